package jobfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anarchon-scheduler/anarchon/core/job"
)

// Check checks the rules of package job for every job of the store of that name, against what
// the store promises. An error points at the setting to change, or at the defaults block that
// it comes from, or at the job when it is a built-in default.
func (c *Config) Check(store string, promise job.Store) Diagnostics {
	r := &report{}
	asked := false
	for i, j := range c.Jobs {
		if j.Store != store {
			continue
		}
		asked = true
		o := c.origins[i]
		for _, v := range j.Check(promise, o.wrote) {
			r.add(c.blame(o, v), Diagnostic{
				Code: ruleCode(v.Rule), Job: j.Name, Summary: v.Summary, Fix: v.Fix + c.whereFrom(o, v),
			})
		}
	}
	if asked && !promise.Leases {
		c.warnDefaults(r, store)
	}
	return r.diagnostics()
}

// warnDefaults says which settings of the defaults block the jobs of a gate store don't have.
// That isn't an error, since jobs of other stores may share the block, but isn't silent either.
func (c *Config) warnDefaults(r *report, store string) {
	if c.defaults == nil {
		return
	}
	for _, m := range c.defaults.marks {
		if slices.Contains(job.LeaseSettings(), m.name) {
			r.add(place{c.defaults.src, m.start, m.end}, Diagnostic{
				Severity: Warning, Code: RuleGate, Store: store,
				Summary: fmt.Sprintf("%s means nothing to the jobs of the store %q, which has no leases", m.name, store),
				Fix:     "Move it to the jobs that have a lease store.",
			})
		}
	}
}

// wrote tells whether the job's block has the setting. A schedule may be written in three ways.
func (o origin) wrote(setting string) bool { return findMark(o.marks, setting) >= 0 }

func findMark(marks []mark, setting string) int {
	return slices.IndexFunc(marks, func(m mark) bool {
		return m.name == setting || setting == "schedule" && (m.name == "every" || m.name == "at")
	})
}

// blame returns the place to point at: the first of the settings that the job itself has, else
// the first that the defaults block has, else the job's header.
func (c *Config) blame(o origin, v job.Violation) place {
	for _, setting := range v.Settings {
		if i := findMark(o.marks, setting); i >= 0 && (setting != "schedule" || len(v.Settings) == 1) {
			return place{o.src, o.marks[i].start, o.marks[i].end}
		}
	}
	for _, setting := range v.Settings {
		if i := c.inDefaults(setting); i >= 0 {
			return place{c.defaults.src, c.defaults.marks[i].start, c.defaults.marks[i].end}
		}
	}
	return o.header()
}

// whereFrom says where the settings come from that the job doesn't have itself.
func (c *Config) whereFrom(o origin, v job.Violation) string {
	var text strings.Builder
	for _, setting := range v.Settings {
		if setting == "schedule" || setting == "store" || o.wrote(setting) {
			continue
		}
		if i := c.inDefaults(setting); i >= 0 {
			m := c.defaults.marks[i]
			fmt.Fprintf(&text, " %s is from the defaults block (%s).", setting, place{c.defaults.src, m.start, m.end})
		} else {
			fmt.Fprintf(&text, " %s is the built-in default.", setting)
		}
	}
	return text.String()
}

// inDefaults returns the index of the setting's mark in the defaults block, or -1.
func (c *Config) inDefaults(setting string) int {
	if c.defaults == nil {
		return -1
	}
	return findMark(c.defaults.marks, setting)
}
