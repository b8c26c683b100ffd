package timing

import (
	"log/slog"
	"maps"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/job"
)

// keepRetired is for how long the cursor of a job that is gone is kept: longer than clocks are put
// back by.
const keepRetired = job.Slot(25 * time.Hour / time.Millisecond)

// cursor is a job and where it is in its schedule.
type cursor struct {
	job  *job.Job
	slot job.Slot // what the job waits for
	done job.Slot // up to here, all slots were handed over or skipped, or don't count; grows only
}

// arm has the job wait for its first slot after its cursor, and returns when that becomes due here;
// false when there is none.
func (s *shard) arm(c *cursor) (int64, bool) {
	slot, ok := s.o.next(c.job, c.done)
	if !ok {
		return 0, false
	}
	if slot <= c.done { // it would spin for ever
		s.count.faulty.Add(1)
		s.o.Log.Error("job disabled: its schedule went back in time, a fault of anarchon; please report it",
			slog.String("job", c.job.Name), slog.String("schedule", c.job.Schedule.String()),
			slog.Int64("after", int64(c.done)), slog.Int64("slot", int64(slot)))
		return 0, false
	}
	c.slot = slot
	return s.draw(c), true
}

// draw returns when c's slot becomes due here: after a random delay.
func (s *shard) draw(c *cursor) int64 {
	jitter := c.job.Jitter.Milliseconds()
	if jitter <= 0 {
		return int64(c.slot)
	}
	// A zone change can bring two slots nearer to each other than the rule for jitter knows (semantics
	// §4.2): never reach into the next one's window.
	if next, ok := s.o.next(c.job, c.slot); ok {
		jitter = max(0, min(jitter, (int64(next-c.slot)-1)/2))
	}
	return int64(c.slot) + s.random.Int64N(jitter+1)
}

// takeOver carries out the changes that have come in.
func (s *shard) takeOver() {
	s.mu.Lock()
	changes := s.changes
	s.changes = nil
	s.mu.Unlock()
	for _, c := range changes {
		s.replace(c)
	}
}

// replace makes the jobs of c the shard's.
func (s *shard) replace(c change) {
	old, waits := s.jobs, s.waits()
	s.retire(old, c)
	s.jobs = make([]cursor, len(c.entries))
	s.queue = newHeap(len(c.entries))
	for n, e := range c.entries {
		now := &s.jobs[n]
		at, ok := int64(0), false
		if e.same {
			*now = old[e.was]
			now.job = e.job
			at = waits[e.was]
			ok = at != nothing
			if ok && old[e.was].job.Jitter != e.job.Jitter {
				at = s.draw(now)
			}
		} else {
			*now = cursor{job: e.job, done: s.begin(e, c, old)}
			at, ok = s.arm(now)
		}
		if ok {
			s.queue.add(at, int32(n)) //nolint:gosec // two thousand million jobs don't fit into memory
		}
	}
	s.queue.build()
}

// waits returns for each job the instant that it waits for.
func (s *shard) waits() []int64 {
	waits := make([]int64, len(s.jobs))
	for n := range waits {
		waits[n] = nothing
	}
	for i, n := range s.queue.job {
		waits[n] = s.queue.at[i]
	}
	return waits
}

// begin returns the cursor of a job that is new, or has other slots than before.
func (s *shard) begin(e entry, c change, old []cursor) job.Slot {
	from := c.at
	if c.lookBack {
		from -= job.Slot(e.job.MaxLate.Milliseconds())
	}
	if e.was >= 0 {
		return max(from, old[e.was].done)
	}
	if done, ok := s.retired[e.job.Name]; ok {
		delete(s.retired, e.job.Name)
		return max(from, done)
	}
	return from
}

// retire keeps the cursors of the jobs of old that aren't in c, and drops those that are too old.
func (s *shard) retire(old []cursor, c change) {
	oldest := c.at - keepRetired
	maps.DeleteFunc(s.retired, func(_ string, done job.Slot) bool { return done < oldest })
	stays := make([]bool, len(old))
	for _, e := range c.entries {
		if e.was >= 0 {
			stays[e.was] = true
		}
	}
	for n, o := range old {
		if !stays[n] && o.done >= oldest {
			s.retired[o.job.Name] = o.done
		}
	}
}
