package storetest

import (
	"context"
	"math/rand/v2"
	"testing"
)

// Run runs the checks against the target, each as a subtest that is named after its
// requirement: go test's -run selects among them.
func Run(t *testing.T, target Target) {
	t.Helper()
	s, seed := newSession(target), rand.Uint64()
	startErr := s.start(t.Context())
	t.Cleanup(func() {
		if err := s.stop(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("close the clients: %v", err)
		}
	})
	for _, check := range Checks() {
		t.Run(check.Name, func(t *testing.T) {
			result := s.execute(t.Context(), check, seed, startErr)
			for _, failure := range result.Failures {
				t.Error(failure)
			}
			switch result.Status {
			case Fail:
				t.Errorf("%s requires: %s (seed %d)", check.ID, check.Requirement, seed)
			case Skip:
				t.Skip(check.ID + ": " + result.Reason)
			default:
				t.Log(check.ID, result.Reason)
			}
		})
	}
}
