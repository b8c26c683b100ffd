package timing

import "github.com/anarchon-scheduler/anarchon/core/job"

// SetNext puts another function in the place of the schedules: a real one can't go wrong on demand.
func (o *Options) SetNext(next func(*job.Job, job.Slot) (job.Slot, bool)) { o.next = next }

// SetSeed makes the delays the same in every run of a test.
func (o *Options) SetSeed(seed byte) { o.seed = [16]byte{0: seed, 15: 1} }
