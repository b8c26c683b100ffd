package jobfile

import "github.com/anarchon-scheduler/anarchon/core/job"

// Code names a kind of problem. It is stable: scripts and docs may rely on it.
type Code string

// The codes: AN10x are about files, AN11x about what stands in them, AN12x about values,
// AN13x about rules, AN14x about stores.
const (
	Unreadable  Code = "AN101"
	BadText     Code = "AN102"
	TooDeep     Code = "AN103"
	BadNumber   Code = "AN104"
	OpenToAll   Code = "AN105"
	NoJobs      Code = "AN106"
	TooMany     Code = "AN107"
	BadVersion  Code = "AN108"
	Syntax      Code = "AN110"
	Unknown     Code = "AN111"
	Missing     Code = "AN112"
	Duplicate   Code = "AN113"
	NotYet      Code = "AN114"
	BadLabel    Code = "AN115"
	BadExpr     Code = "AN116"
	BadType     Code = "AN117"
	BadEnv      Code = "AN118"
	BadValue    Code = "AN120"
	BadSchedule Code = "AN121"
	BadZone     Code = "AN122"
	BadDuration Code = "AN123"
	BadCommand  Code = "AN124"
	RuleJitter  Code = "AN131"
	RuleLate    Code = "AN132"
	RuleMemory  Code = "AN133"
	RuleCount   Code = "AN134"
	RuleLease   Code = "AN135"
	RuleGate    Code = "AN136"
	NoStore     Code = "AN141"
	BadSetting  Code = "AN142"
)

// CodeInfo describes a code for docs.
type CodeInfo struct {
	// Code is the code.
	Code Code
	// Meaning says in a sentence what it stands for.
	Meaning string
}

// Codes returns every code of this package, in order. Plugins add codes of their own.
func Codes() []CodeInfo {
	return []CodeInfo{
		{Unreadable, "A file or directory can't be read, isn't regular, or is too large."},
		{BadText, "A file holds bytes that aren't plain UTF-8 text, or characters that hide what is written."},
		{TooDeep, "Brackets are nested, or operators chained, too deeply to be read safely."},
		{BadNumber, "A number is too long, or too large, to be meant."},
		{OpenToAll, "A file that a privileged process is to trust can be written by everyone."},
		{NoJobs, "The configuration has no jobs."},
		{TooMany, "There are more problems than are shown."},
		{BadVersion, "This version of anarchon isn't one that the configuration asks for."},
		{Syntax, "The file isn't HCL."},
		{Unknown, "An attribute or block isn't known here."},
		{Missing, "A required attribute or block is missing."},
		{Duplicate, "Something stands twice that may stand once."},
		{NotYet, "A part of the language isn't supported by this version."},
		{BadLabel, "A block's label is missing, superfluous or not a valid name."},
		{BadExpr, "An expression isn't of a kind that is allowed here."},
		{BadType, "A value has the wrong type."},
		{BadEnv, "An environment variable isn't set."},
		{BadValue, "A value isn't one of those allowed, or is out of range."},
		{BadSchedule, "A schedule can't be read, or never fires."},
		{BadZone, "A time zone isn't known."},
		{BadDuration, "A duration or size can't be read, or is out of range."},
		{BadCommand, "A command, its directory or its environment can't be used."},
		{RuleJitter, "jitter must be less than half of the least time between two runs."},
		{RuleLate, "max_late must be greater than jitter."},
		{RuleMemory, "jitter + max_late must be less than the store's memory."},
		{RuleCount, "The runs that the store remembers must span more than jitter + max_late."},
		{RuleLease, "heartbeat must be less than half of lease."},
		{RuleGate, "The job asks a gate store for what only a lease store can do."},
		{NoStore, "A job names a store that isn't configured, or none where there are several."},
		{BadSetting, "The plugin refuses a setting of its store block."},
	}
}

// ruleCode returns the code of a rule of package job.
func ruleCode(r job.Rule) Code {
	switch r {
	case job.JitterFits:
		return RuleJitter
	case job.LateAfterJitter:
		return RuleLate
	case job.MemoryLasts:
		return RuleMemory
	case job.MemoryCounts:
		return RuleCount
	case job.LeaseRenewable:
		return RuleLease
	case job.NeedsLeases:
		return RuleGate
	}
	return BadValue
}
