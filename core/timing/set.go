package timing

import (
	"hash/maphash"

	"github.com/anarchon-scheduler/anarchon/core/job"
)

// change is a new set of jobs for a shard.
type change struct {
	entries  []entry
	at       job.Slot // when it was made, on this instance's wall clock
	lookBack bool     // whether it is an instance's start
}

// entry is a job of a change.
type entry struct {
	job  *job.Job
	was  int  // the job's place in the set before; -1 if it wasn't there
	same bool // whether the slots that it has are the same as before
}

// Set replaces all jobs; their names are unique. The slice is the caller's again when Set returns,
// the jobs aren't. Disabled jobs have no slots.
//
// A job that has the same schedule and store as before keeps the slot that it waits for and its
// other settings are the new ones from here on. A job that is new, or whose schedule or store has
// changed, has slots only after this moment. Only the jobs of the first Set, an instance's start,
// also have those of the last max_late.
//
// Set doesn't wait for the shards: what is being handed over meanwhile may still be of the old jobs.
func (e *Engine) Set(jobs []*job.Job) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at := job.Slot(e.o.Now().UnixMilli())
	for n, part := range e.split(jobs) {
		e.shards[n].change(change{entries: compare(e.sets[n], part), at: at, lookBack: !e.begun})
		e.sets[n] = part
	}
	e.begun = true
}

// split returns each shard's part of the enabled jobs.
func (e *Engine) split(jobs []*job.Job) [][]*job.Job {
	parts := make([][]*job.Job, len(e.shards))
	for n := range parts {
		parts[n] = make([]*job.Job, 0, len(jobs)/len(parts))
	}
	for _, j := range jobs {
		if j.Enabled {
			n := int(maphash.String(e.hash, j.Name) % uint64(len(parts))) //nolint:gosec // less than 64
			parts[n] = append(parts[n], j)
		}
	}
	return parts
}

// compare says what has become of the jobs of old in now.
func compare(old, now []*job.Job) []entry {
	places := make(map[string]int, len(old))
	for n, j := range old {
		places[j.Name] = n
	}
	entries := make([]entry, len(now))
	for n, j := range now {
		entries[n] = entry{job: j, was: -1}
		if was, ok := places[j.Name]; ok {
			entries[n].was = was
			entries[n].same = sameSlots(old[was], j)
		}
	}
	return entries
}

// sameSlots tells whether a job still waits for what it waited for. In another store the slot that
// it waits for may be won again by this instance though another has run it.
func sameSlots(a, b *job.Job) bool {
	if a.Store != b.Store {
		return false
	}
	s, t := a.Schedule, b.Schedule
	return s == t || s.DST() == t.DST() && s.String() == t.String() && s.Zone().String() == t.Zone().String()
}
