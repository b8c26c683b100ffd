package storetest

import (
	"context"
	"slices"
	"strings"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// Check is one requirement of the contract and the code that checks it.
type Check struct {
	// ID is stable: a letter for the group and a number, as "S02".
	ID string
	// Name says what must hold, as "Claim/second_token_loses"; it is the subtest's name.
	Name string
	// Requirement is the requirement in a sentence.
	Requirement string

	needs needs
	run   func(ctx context.Context, t *trial)
}

// needs says to which targets a check applies.
type needs struct {
	kind    pluginapi.Kind // 0: any
	history bool           // the store has a history
	binary  bool           // the target is a binary
	alone   bool           // the check opens what it uses: it needs no configured client
}

var (
	anyStore    = needs{}
	leaseStore  = needs{kind: pluginapi.Lease}
	gateStore   = needs{kind: pluginapi.Gate}
	history     = needs{history: true}
	leaseRuns   = needs{kind: pluginapi.Lease, history: true}
	alone       = needs{alone: true}
	binary      = needs{binary: true, alone: true}
	binaryStore = needs{binary: true}
)

// Checks returns all checks, in the order in which they run.
func Checks() []Check {
	return slices.Concat(
		configChecks(),
		claimChecks(),
		batchChecks(),
		gateChecks(),
		leaseChecks(),
		takeoverChecks(),
		finishChecks(),
		attemptChecks(),
		overlapChecks(),
		clockChecks(),
		expiredChecks(),
		memoryChecks(),
		historyChecks(),
		faultChecks(),
		speedChecks(),
		secretChecks(), // last: they look at everything that was said before
	)
}

// selected tells whether one of the patterns is the check's ID, its group or the beginning of
// its name; no patterns select every check.
func (c Check) selected(only []string) bool {
	if len(only) == 0 {
		return true
	}
	return slices.ContainsFunc(only, func(pattern string) bool {
		return strings.HasPrefix(c.ID, pattern) || strings.HasPrefix(c.Name, pattern)
	})
}
