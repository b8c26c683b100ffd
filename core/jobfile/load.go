package jobfile

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/core/schedule"
)

// Options say what to load.
type Options struct {
	// Path is a directory, whose *.hcl files are read, or one file.
	Path string
	// Env looks up environment variables for env(); nil means os.LookupEnv.
	Env func(name string) (string, bool)
	// Version is the version of this program, as "v0.1.0", which required_version is checked
	// against. A version that isn't a number, as a development build's, satisfies everything.
	Version string
	// Privileged tells that the process may do anything (it runs as root): files that everyone
	// may write are then refused.
	Privileged bool
}

// Config is a configuration.
type Config struct {
	// Agent are the settings of this instance.
	Agent Agent
	// Stores are the store blocks, by name. There is always at least one: without a block in
	// the files it is [DefaultStore].
	Stores []*Store
	// Jobs are the jobs, by name, with all defaults filled in; also those that are disabled.
	Jobs []*job.Job
	// Files are the files that were read.
	Files []string

	origins  []origin // where Jobs come from, in the same order
	defaults *defaults
}

// Agent are the settings of an instance.
type Agent struct {
	// Name is unique among the live instances; "" when the configuration doesn't say.
	Name string
	// DataDir is where the instance keeps its files; "" when the configuration doesn't say.
	DataDir string
	// MaxRunning is how many runs this instance holds at once; a full one doesn't claim.
	MaxRunning int
	// DrainTimeout is how long a stopping instance lets its runs go on.
	DrainTimeout time.Duration
}

// The defaults of [Agent].
const (
	DefaultMaxRunning   = 32
	DefaultDrainTimeout = time.Minute
)

// origin is where a job was written.
type origin struct {
	src        *source
	start, end uint32 // the block's header
	marks      []mark // the settings that the user wrote
}

func (o origin) header() place { return place{o.src, o.start, o.end} }

// loader is the state of one Load.
type loader struct {
	reader
	options    Options
	config     *Config
	utc        *schedule.Zone
	jobShape   shape
	schedules  map[timesKey]*schedule.Schedule
	stores     map[string]place // where each stands
	jobs       map[string]place
	entries    []entry
	project    place
	agent      place
	defaultsAt place
	jobBlocks  int
	partial    bool // some file has syntax errors: what seems to be missing may be there
}

// entry is a job on its way into the configuration.
type entry struct {
	job     *job.Job
	origin  origin
	storeAt place // where the job, or the defaults, name its store
}

// Load reads the configuration at the path and checks everything that needs no plugin. All
// problems of all files are found in one pass; what has none is in the Config, which is never
// nil. It must not be run when the diagnostics have errors.
func Load(o Options) (*Config, Diagnostics) {
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	l := &loader{
		reader:    reader{report: &report{}, eval: newEvaluator(o.Env), texts: map[string]string{}},
		options:   o,
		config:    &Config{Agent: Agent{MaxRunning: DefaultMaxRunning, DrainTimeout: DefaultDrainTimeout}},
		utc:       schedule.UTC(),
		jobShape:  jobShape(),
		schedules: map[timesKey]*schedule.Schedule{},
		stores:    map[string]place{},
		jobs:      map[string]place{},
	}
	sources := l.read(o.Path)
	l.partial = l.report.found.HasErrors()
	parse(l.safe(sources), l.decode)
	l.finish()
	return l.config, l.report.diagnostics()
}

// safe returns the files that the parser may see, those with defaults first.
func (l *loader) safe(sources []*source) []*source {
	var first, rest []*source
	for _, s := range sources {
		l.config.Files = append(l.config.Files, s.name)
		safe, early := plain(s.text)
		if !safe {
			// What the scanner complains about, the parser will report.
			tokens, _ := hclsyntax.LexConfig(s.text, s.name, hcl.InitialPos)
			if r := guard(tokens); r != nil {
				l.partial = true
				l.report.add(s.at(r.token.Range), r.diag)
				continue
			}
			early = hasDefaults(tokens)
		}
		if early {
			first = append(first, s)
		} else {
			rest = append(rest, s)
		}
	}
	return append(first, rest...)
}

// topLevel is what may stand at the top of a file.
func topLevel() shape {
	return shape{
		what:   "a configuration",
		blocks: []string{"anarchon", "agent", "store", "defaults", "job"},
		later:  []string{"variable", "locals", "secret", "include"},
	}
}

// decode takes over what stands in a file. The syntax tree isn't kept, but for store blocks:
// with very many jobs it would be the largest part of what is in memory.
func (l *loader) decode(p parsed) {
	s, body := p.src, p.body
	l.syntax(s, p.diags)
	if body == nil {
		return
	}
	top := topLevel()
	f := &fields{r: &l.reader, src: s, body: body}
	for name, a := range body.Attributes {
		f.refuse(s.at(a.NameRange), top.unknown("attribute", name))
	}
	// Jobs come last: they need the defaults.
	for _, b := range body.Blocks {
		switch b.Type {
		case "anarchon":
			l.decodeProject(f, b)
		case "agent":
			l.decodeAgent(f, b)
		case "store":
			l.decodeStore(f, b)
		case "defaults":
			l.decodeDefaults(f, b)
		case "job":
		default:
			f.refuse(s.at(b.TypeRange), top.unknown("block", b.Type))
		}
	}
	for _, b := range body.Blocks {
		if b.Type == "job" {
			l.jobBlocks++
			l.decodeJob(f, b)
		}
	}
}

// syntax reports what the parser found.
func (l *loader) syntax(s *source, diags hcl.Diagnostics) {
	for _, d := range diags {
		at := s.whole()
		if d.Subject != nil {
			at = s.at(*d.Subject)
		}
		if int(at.start) >= len(s.text) && d.Context != nil {
			// What never ends is shown where it began: just before what it holds.
			at = s.at(*d.Context).cut(-1, 1)
		}
		r := Diagnostic{Code: Syntax, Summary: d.Summary, Fix: d.Detail}
		if d.Severity == hcl.DiagWarning {
			r.Severity = Warning
		} else {
			s.partial, l.partial = true, true
		}
		l.report.add(at, r)
	}
}

// finish orders the configuration, and checks what could only be checked with all files read.
func (l *loader) finish() {
	c := l.config
	if len(c.Stores) == 0 && !l.partial {
		c.Stores = []*Store{l.newDefaultStore()}
	}
	slices.SortFunc(c.Stores, func(a, b *Store) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(l.entries, func(a, b entry) int { return strings.Compare(a.job.Name, b.job.Name) })
	c.Jobs = make([]*job.Job, 0, len(l.entries))
	c.origins = make([]origin, 0, len(l.entries))
	for _, e := range l.entries {
		if l.chooseStore(e) {
			c.Jobs = append(c.Jobs, e.job)
			c.origins = append(c.origins, e.origin)
		}
	}
	if l.jobBlocks == 0 && !l.partial {
		l.report.add(place{}, Diagnostic{
			Severity: Warning, Code: NoJobs, File: l.options.Path,
			Summary: "the configuration has no jobs",
			Fix:     `Write one: job "hello" { schedule = "* * * * *", and an exec block with its command }.`,
		})
	}
}

// label returns the block's only label, or reports what is wrong with it.
func (f *fields) label(b *hclsyntax.Block, valid func(string) bool, grammar string) (string, bool) {
	if len(b.Labels) != 1 {
		f.refuse(f.src.at(b.DefRange()), Diagnostic{
			Code:    BadLabel,
			Summary: fmt.Sprintf("a %s has one label, its name; here are %d", b.Type, len(b.Labels)),
			Fix:     fmt.Sprintf("Write %s \"name\" { … }.", b.Type),
		})
		return "", false
	}
	if name := b.Labels[0]; !valid(name) {
		f.refuse(f.src.at(b.LabelRanges[0]), Diagnostic{
			Code:    BadLabel,
			Summary: fmt.Sprintf("%s can't be the name of a %s", shorten(name), b.Type),
			Fix:     grammar,
		})
		return "", false
	}
	return b.Labels[0], true
}
