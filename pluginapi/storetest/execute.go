package storetest

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// checkLimit is how long one check may take. It is far more than any needs: a check that
// meets it has met a call that doesn't end.
const checkLimit = time.Minute

// Options say which checks run, and how.
type Options struct {
	// Only selects checks by the beginning of their ID or name, as "S02", "S" or "Takeover/";
	// empty means all.
	Only []string
	// Seed repeats the random choices of an execution; 0 means new ones.
	Seed uint64
	// Each is called with each result as soon as there is one; nil means nobody waits for it.
	Each func(Result)
}

// Execute runs the checks against the target, one after the other, and reports what they
// found. A context that ends makes the checks that are left fail.
func Execute(ctx context.Context, target Target, o Options) Report {
	if o.Seed == 0 {
		o.Seed = rand.Uint64()
	}
	if o.Each == nil {
		o.Each = func(Result) {}
	}
	s := newSession(target)
	report := Report{Target: "in process", Seed: o.Seed}
	if target.Binary != "" {
		report.Target = target.Binary
	}
	startErr := s.start(ctx)
	report.Name, report.Version = s.description.name, s.description.version
	if startErr == nil {
		report.Kind, report.Strategy = s.info.Kind.String(), s.info.Strategy
	}
	for _, check := range Checks() {
		if check.selected(o.Only) {
			result := s.execute(ctx, check, o.Seed, startErr)
			report.Results = append(report.Results, result)
			o.Each(result)
		}
	}
	if err := s.stop(ctx); err != nil && startErr == nil {
		result := Result{
			ID: "C00", Name: "Config/clients_close", Requirement: "Close frees a client and returns no error.",
			Status: Fail, Failures: []string{err.Error()},
		}
		report.Results = append(report.Results, result)
		o.Each(result)
	}
	return report
}

// execute runs one check.
func (s *session) execute(ctx context.Context, check Check, seed uint64, startErr error) Result {
	result := Result{ID: check.ID, Name: check.Name, Requirement: check.Requirement, Status: Pass}
	if reason := s.inapplicable(check.needs, startErr); reason != "" {
		result.Status, result.Reason = Skip, reason
		return result
	}
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	// Each check draws from a sequence of its own, so that it repeats when it runs alone.
	id := fnv.New64a()
	_, _ = id.Write([]byte(check.ID))
	t := &trial{session: s, check: check, rand: rand.New(rand.NewPCG(seed, id.Sum64()))}
	start := time.Now()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		t.perform(ctx)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		select {
		case <-ended:
		case <-time.After(checkLimit / 12):
			t.errorf("the check doesn't end: a call holds on although its context has ended")
		}
	}
	result.Took = time.Since(start)
	t.mu.Lock()
	defer t.mu.Unlock()
	result.Failures, result.Reason = slices.Clone(t.failures), t.note
	switch {
	case len(t.failures) > 0:
		result.Status = Fail
	case t.skipped != "":
		result.Status, result.Reason = Skip, t.skipped
	}
	return result
}

// perform runs the check and its cleanups in the goroutine that the check may end.
func (t *trial) perform(ctx context.Context) {
	defer func() {
		for _, f := range slices.Backward(t.cleanups) {
			f()
		}
	}()
	defer func() {
		if p := recover(); p != nil {
			t.errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	if !t.check.needs.alone {
		t.slot = pluginapi.SlotOf(t.now(ctx))
	}
	t.check.run(ctx, t)
}

// inapplicable says why a check doesn't apply to the target; "" means that it does.
func (s *session) inapplicable(n needs, startErr error) string {
	switch {
	case n.binary && s.target.Binary == "":
		return "only for binaries"
	case n.alone:
		return ""
	case startErr != nil:
		return "there is no configured client: see C01"
	case n.kind != 0 && n.kind != s.info.Kind:
		return fmt.Sprintf("only for %s stores", n.kind)
	case n.history && !s.info.HasHistory:
		return "the store claims no history"
	default:
		return ""
	}
}
