//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The window between the store's commit and its reply: the plugin, built with failpoints,
// kills itself there once. The core sends the same request with the same token to the next
// plugin process, and the store answers as it did the first time.
func TestCrashBetweenCommitAndReply(t *testing.T) {
	for _, point := range []string{"claim.on_receive", "claim.before_reply", "finish.before_reply", "heartbeat.before_reply"} {
		t.Run(strings.ReplaceAll(point, ".", "_"), func(t *testing.T) {
			c := newCluster(t, longJob(3*time.Second, ""))
			c.core = bin(t, filepath.Join("faultpoints", "anarchon"))
			marker := filepath.Join(c.dir, "fault-hit")
			i := c.start("i1", "ANARCHON_FAULT="+point+"=kill,once:"+marker)
			until(t, 40*time.Second, func() error {
				runs := c.runs("long")
				if len(runs) != 1 || runs[0].Outcome != "succeeded" {
					return fmt.Errorf("the history has %+v; want one run, succeeded", runs)
				}
				return nil
			})
			if _, err := os.Stat(marker); err != nil {
				t.Fatalf("the failpoint was never reached: %v", err)
			}
			starts := c.witness.starts("long")
			if len(starts) != 1 || starts[0].attempt != 1 {
				t.Errorf("starts: %+v; want one, attempt 1", starts)
			}
			if runs := c.runs("long"); len(runs[0].Attempts) != 1 {
				t.Errorf("attempts: %+v; want one", runs[0].Attempts)
			}
			if code := i.stop(20 * time.Second); code != 0 {
				t.Errorf("exit code %d, want 0", code)
			}
		})
	}
}
