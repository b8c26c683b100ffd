package claim_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/claim"
	"github.com/anarchon-scheduler/anarchon/core/event"
	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// backup is an instance's Watch, with what it was handed and what came of it.
type backup struct {
	*instance
	jobs    map[string]*job.Job
	answers chan claim.Answer
	stop    func()
}

// backUp starts a Watch for the jobs; each run that it hands on is asked for.
func (in *instance) backUp(t *testing.T, jobs ...*job.Job) *backup {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	b := &backup{instance: in, jobs: map[string]*job.Job{}, answers: make(chan claim.Answer)}
	for _, j := range jobs {
		b.jobs[j.Name] = j
	}
	var work sync.WaitGroup
	work.Go(func() {
		err := in.Watch(ctx, claim.Scan{
			Heartbeat: func() time.Duration { return jobs[0].Heartbeat },
			Job:       func(name string) *job.Job { return b.jobs[name] },
			Hand: func(j *job.Job, slot job.Slot) {
				work.Go(func() { b.answer(ctx, in.Takeover(ctx, j, slot)) })
			},
		})
		if err != nil {
			t.Errorf("watch: %v", err)
		}
	})
	b.stop = func() {
		cancel()
		work.Wait()
	}
	return b
}

func (b *backup) answer(ctx context.Context, a claim.Answer) {
	select {
	case b.answers <- a:
	case <-ctx.Done():
	}
}

// A dead holder is replaced within lease + 2 heartbeats after the last one that the store
// got, and not before the lease has ended.
func TestTakeoverBound(t *testing.T) {
	perSetting(t, func(w *world, j *job.Job) {
		t := w.t
		b := w.instance("backup").backUp(t, j)
		defer b.stop()
		var soonest, latest time.Duration
		for i := range 300 {
			slot, holder := slotNow(), w.instance(fmt.Sprint("holder-", i))
			hold := win(t, holder, j, slot)
			<-time.After(rand.N(3 * j.Heartbeat))
			holder.link.set(always(refused)) // it is dead to the store from now on
			run, _ := w.run(t, j, slot)
			end := time.Now().Add(run.LeaseLeft)
			answer := <-b.answers
			want(t, "takeover", answer, event.Won)
			after := time.Since(end)
			if after <= 0 || after > 2*j.Heartbeat {
				t.Fatalf("death %d: taken over %s after the lease's end, want within %s", i, after, 2*j.Heartbeat)
			}
			if i == 0 || after < soonest {
				soonest = after
			}
			latest = max(latest, after)
			lost(t, hold)
			finish(t, answer.Hold)
		}
		if latest-soonest < j.Heartbeat {
			t.Errorf("takeovers came between %s and %s after the lease's end: the scans aren't spread", soonest, latest)
		}
	})
}

func TestWatch(t *testing.T) {
	for _, c := range watchCases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { c.test(newWorld(t)) })
		})
	}
}

var watchCases = []struct {
	name string
	test func(w *world)
}{
	{"runs_that_this_instance_never_saw_start_are_found", func(w *world) {
		t := w.t
		j, slot, dead := newJob("a"), slotNow(), w.instance("dead")
		hold := win(t, dead, j, slot)
		dead.link.set(always(refused))
		lost(t, hold)
		<-time.After(time.Hour) // all were down
		b := w.instance("new").backUp(t, j)
		defer b.stop()
		answer := <-b.answers
		want(t, "takeover", answer, event.Won)
		if answer.Attempt != 2 {
			t.Errorf("got attempt %d, want 2", answer.Attempt)
		}
		finish(t, answer.Hold)
	}},
	{"live_runs_and_unknown_jobs_are_left_alone", func(w *world) {
		t := w.t
		known, foreign := newJob("known"), newJob("foreign")
		own, other, dead := w.instance("own"), w.instance("other"), w.instance("dead")
		b := own.backUp(t, known)
		defer b.stop()
		live := win(t, other, known, slotNow())
		gone := win(t, dead, foreign, slotNow())
		dead.link.set(always(refused))
		lost(t, gone)
		<-time.After(time.Hour)
		if n := own.link.sent("claim"); n != 0 {
			t.Errorf("sent %d claims, want none", n)
		}
		finish(t, live)
	}},
	{"own_run_is_left_alone_while_it_counts_as_held", func(w *world) {
		t := w.t
		j, own := newJob("a"), w.instance("own")
		b := own.backUp(t, j)
		defer b.stop()
		hold := win(t, own, j, slotNow())
		own.link.set(always(hangs, "heartbeat"))
		w.ahead.Add(int64(j.Lease + time.Second)) // the lease has ended for the store
		<-time.After(20 * time.Second)
		select {
		case answer := <-b.answers:
			t.Errorf("its own run was handed to it: %+v", answer)
		default:
		}
		own.link.set(nil)
		<-time.After(time.Minute)
		if err := hold.Context().Err(); err != nil {
			t.Errorf("the work was stopped: %v", err)
		}
		finish(t, hold)
	}},
	{"overlap_is_asked_again_at_the_next_scan", func(w *world) {
		t := w.t
		j, dead, other := newJob("a"), w.instance("dead"), w.instance("other")
		first := win(t, dead, j, slotNow())
		dead.link.set(always(refused))
		<-time.After(j.Lease + time.Second)
		lost(t, first)
		second := win(t, other, j, slotNow()) // the next slot is live by now
		b := w.instance("backup").backUp(t, j)
		defer b.stop()
		for range 3 {
			want(t, "takeover", <-b.answers, event.Overlap)
		}
		finish(t, second)
		answer := <-b.answers
		for answer.Kind == event.Overlap {
			answer = <-b.answers
		}
		want(t, "takeover", answer, event.Won)
		finish(t, answer.Hold)
	}},
	{"run_without_an_attempt_left_is_interrupted", func(w *world) {
		t := w.t
		j, slot, dead := newJob("a"), slotNow(), w.instance("dead")
		j.MaxAttempts = 1
		hold := win(t, dead, j, slot)
		dead.link.set(always(refused))
		b := w.instance("backup").backUp(t, j)
		defer b.stop()
		want(t, "takeover", <-b.answers, event.Taken)
		lost(t, hold)
		if run, _ := w.run(t, j, slot); run.Outcome != pluginapi.Interrupted {
			t.Errorf("got %s, want interrupted", run.Outcome)
		}
	}},
	{"instance_takes_its_own_lost_run_over", func(w *world) {
		t := w.t
		j, slot, one := newJob("a"), slotNow(), w.instance("one")
		hold := win(t, one, j, slot)
		b := one.backUp(t, j)
		defer b.stop()
		one.link.set(always(refused))
		<-hold.Context().Done()
		one.link.set(nil)
		answer := <-b.answers
		lost(t, hold) // ends the old hold, and leaves the new one alone
		want(t, "again", one.Acquire(t.Context(), j, slot), event.Taken)
		want(t, "takeover", answer, event.Won)
		finish(t, answer.Hold)
	}},
	{"all_pages_are_read", func(w *world) {
		t := w.t
		j, dead := newJob("a"), w.instance("dead")
		j.Overlap = job.Allow
		const runs = 2500
		holds := make([]*claim.Hold, runs)
		for i := range runs {
			holds[i] = win(t, dead, j, slotNow()-job.Slot(i))
		}
		dead.link.set(always(refused))
		for _, hold := range holds {
			lost(t, hold)
		}
		b := w.instance("backup").backUp(t, j)
		defer b.stop()
		for range runs {
			answer := <-b.answers
			want(t, "takeover", answer, event.Won)
			finish(t, answer.Hold)
		}
	}},
	{"instance_without_jobs_scans_for_those_to_come", func(w *world) {
		t := w.t
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		one := w.instance("one")
		err := one.Watch(ctx, claim.Scan{Heartbeat: func() time.Duration { return 0 }})
		if n := one.link.sent("expired"); err != nil || n < 11 || n > 13 {
			t.Errorf("got %d scans in a minute, %v; want one each 5s", n, err)
		}
	}},
	{"store_that_can_not_tell_is_asked_again", func(w *world) {
		t := w.t
		j, dead, backup := newJob("a"), w.instance("dead"), w.instance("backup")
		hold := win(t, dead, j, slotNow())
		dead.link.set(always(refused))
		lost(t, hold)
		backup.link.set(first(3, hangs, "expired"))
		b := backup.backUp(t, j)
		defer b.stop()
		answer := <-b.answers
		want(t, "takeover", answer, event.Won)
		finish(t, answer.Hold)
	}},
	{"gate_store_has_nothing_to_watch", func(w *world) {
		w.add("one", pluginapi.Gate).backUp(w.t, newJob("a")).stop()
	}},
}
