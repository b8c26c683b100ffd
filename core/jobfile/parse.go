package jobfile

import (
	"runtime"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// parsed is a file with its syntax tree.
type parsed struct {
	src   *source
	body  *hclsyntax.Body
	diags hcl.Diagnostics
}

// parse hands each file's syntax tree to take, in the order of the sources. The parser takes
// most of the time of loading, so that files are parsed side by side, but never more than a
// few ahead of take: a tree is much larger than its file.
func parse(sources []*source, take func(parsed)) {
	workers := runtime.GOMAXPROCS(0)
	results := make(chan chan parsed, workers) // full: enough is ahead
	var running sync.WaitGroup
	running.Go(func() {
		defer close(results)
		for _, s := range sources {
			result := make(chan parsed, 1) // who parses never waits for take
			results <- result
			running.Go(func() { result <- parseFile(s) })
		}
	})
	for result := range results {
		take(<-result)
	}
	running.Wait()
}

func parseFile(s *source) parsed {
	file, diags := hclsyntax.ParseConfig(s.text, s.name, hcl.InitialPos)
	p := parsed{src: s, diags: diags}
	if body, ok := file.Body.(*hclsyntax.Body); ok {
		p.body = body
	}
	return p
}
