package jobfile

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// The limits of a job's command. The kernel refuses an argument of 128 KiB.
const (
	maxArgument = 128<<10 - 1
	maxEnv      = 256
	maxEnvBytes = 64 << 10
)

// jobShape is what may stand in a job block.
func jobShape() shape {
	return shape{
		what: "a job",
		attributes: append([]string{
			"description", "enabled", "schedule", "every", "offset", "at",
		}, sharedAttributes()...),
		blocks: []string{"exec", "dst"},
		later:  []string{"http", "retry", "for_each", "only_on", "on_store_reset"},
	}
}

// decodeJob reads a job block; a job without errors joins the configuration.
func (l *loader) decodeJob(top *fields, b *hclsyntax.Block) {
	name, named := top.label(b, pluginapi.ValidJob,
		"A job's name has 1 to 128 of the characters a-z 0-9 . _ : -, and starts with a letter or digit.")
	f := l.open(top.src, top.src.at(b.DefRange()), b.Body, l.jobShape, owner{job: name})
	own, shared := f.settings(), l.defaultSettings()
	times := l.times(f, own, shared)
	exec := f.exec()
	description := f.text("description", `"what it is for"`)
	enabled := f.flag("enabled")
	if named && !l.isFirst(f, name) || !named || f.bad {
		return
	}
	j := &job.Job{
		Name:        name,
		Description: pick(description, nil, ""),
		Enabled:     pick(enabled, nil, true),
		Schedule:    times.schedule,
		Timing:      own.timing(shared, times.gap),
		Timeout:     pick(own.timeout, shared.timeout, 0),
		KillAfter:   pick(own.killAfter, shared.killAfter, job.DefaultKillAfter),
		Exec:        exec,
		Store:       pick(own.store, shared.store, ""),
	}
	storeAt := own.storeAt
	if own.store == nil {
		storeAt = shared.storeAt
	}
	l.entries = append(l.entries, entry{j, origin{f.src, f.header.start, f.header.end, f.marks}, storeAt})
}

// isFirst tells whether no job of this name was read before, and reports it otherwise.
func (l *loader) isFirst(f *fields, name string) bool {
	if first, twice := l.jobs[name]; twice {
		f.refuse(f.header, Diagnostic{
			Code:    Duplicate,
			Summary: fmt.Sprintf("the job %q already stands at %s", name, first),
			Fix:     "Rename one of them: a job's name is its identity in the store.",
		})
		return false
	}
	l.jobs[name] = f.header
	return true
}

func (l *loader) defaultSettings() settings {
	if l.config.defaults == nil {
		return settings{}
	}
	return l.config.defaults.settings
}

// exec reads the exec block.
func (f *fields) exec() job.Exec {
	b := f.within("exec", shape{
		what:       "the exec block",
		attributes: []string{"command", "dir", "env"},
		later:      []string{"script", "interpreter", "user"},
	})
	if b == nil {
		f.require(Diagnostic{Summary: "the job doesn't say what to run", Fix: `Add exec { command = ["program", "argument"] }.`})
		return job.Exec{}
	}
	e := job.Exec{Command: b.command(), Env: b.env()}
	if dir := b.text("dir", `"/srv"`); dir != nil {
		e.Dir = *dir
		if e.Dir == "" || strings.ContainsRune(e.Dir, 0) {
			b.refuse(b.at("dir"), Diagnostic{Code: BadCommand, Summary: "dir must be a path", Fix: "Remove the line to run in the data directory."})
		}
	}
	f.bad = f.bad || b.bad
	return e
}

// command reads the program and its arguments.
func (f *fields) command() []string {
	const example = `["program", "argument"]`
	if !f.has("command") {
		f.require(Diagnostic{Summary: "the exec block has no command", Fix: "Write command = " + example + "."})
		return nil
	}
	items := f.list("command", example)
	command := make([]string, 0, len(items))
	for i, x := range items {
		v, ok := f.evaluate(x, fmt.Sprintf("command[%d]", i), cty.String, `"argument"`)
		if !ok {
			return nil
		}
		text := v.AsString()
		if len(text) > maxArgument || strings.ContainsRune(text, 0) {
			f.refuse(f.src.at(x.Range()), Diagnostic{
				Code:    BadCommand,
				Summary: fmt.Sprintf("an argument has at most %d bytes, none of them zero", maxArgument),
				Fix:     "Put long input into a file.",
			})
		}
		command = append(command, f.r.intern(text))
	}
	if !f.bad && (len(command) == 0 || command[0] == "") {
		f.refuse(f.at("command"), Diagnostic{
			Code: BadCommand, Summary: "command names no program", Fix: "Write command = " + example + ".",
		})
	}
	return command
}

// environmentName is what shells and C libraries agree on as a variable's name.
var environmentName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// env reads the additions to the environment.
func (f *fields) env() map[string]string {
	if !f.has("env") {
		return nil
	}
	items := f.pairs("env", `{ NAME = "value" }`)
	if len(items) > maxEnv {
		f.refuse(f.at("env"), Diagnostic{
			Code: BadCommand, Summary: fmt.Sprintf("env has %d variables; at most %d are allowed", len(items), maxEnv),
			Fix: "Put large input into a file.",
		})
		return nil
	}
	env, size := map[string]string{}, 0
	for _, item := range items {
		at := f.src.at(item.key.Range())
		v, ok := f.evaluate(item.value, "env."+item.name, cty.String, `"value"`)
		if !ok {
			continue
		}
		value := v.AsString()
		switch {
		case !environmentName.MatchString(item.name):
			f.refuse(at, Diagnostic{
				Code: BadCommand, Summary: fmt.Sprintf("%s can't be the name of an environment variable", shorten(item.name)),
				Fix: "A name has letters, digits and _, and doesn't start with a digit.",
			})
		case job.ReservedVariable(item.name) != "":
			f.refuse(at, Diagnostic{
				Code: BadCommand, Summary: fmt.Sprintf("a job can't set %s", item.name),
				Fix: "It " + job.ReservedVariable(item.name) + ".",
			})
		case strings.ContainsRune(value, 0):
			f.refuse(f.src.at(item.value.Range()), Diagnostic{
				Code: BadCommand, Summary: fmt.Sprintf("the value of %s has a zero byte", item.name), Fix: "The environment can't hold one.",
			})
		}
		size += len(item.name) + len(value)
		env[f.r.intern(item.name)] = f.r.intern(value)
	}
	if size > maxEnvBytes {
		f.refuse(f.at("env"), Diagnostic{
			Code: BadCommand, Summary: fmt.Sprintf("env has %d bytes; at most %d are allowed", size, maxEnvBytes),
			Fix: "Put large input into a file.",
		})
	}
	return env
}
