package claim

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// Scan is what [Claimer.Watch] looks for. All of it is required; its functions are called
// from Watch's goroutine.
type Scan struct {
	// Heartbeat gives the smallest heartbeat among the jobs of the store; 0 while there are
	// none. It is read before each scan.
	Heartbeat func() time.Duration
	// Job returns the job of that name if this instance knows and runs it; else nil.
	Job func(name string) *job.Job
	// Hand gets each run whose lease has ended, to be asked for with [Claimer.Takeover]. It
	// must not block.
	Hand func(j *job.Job, slot job.Slot)
}

// Watch is what makes this instance a backup for all others: once per heartbeat it asks the
// store, in one query, which runs' leases have ended, whoever's they were and since whenever,
// and hands those on that aren't held here. It returns nil when ctx has ended; at once on a
// gate store, whose runs have no lease.
//
// The scans lie at a random point in each heartbeat's time, so that instances don't ask
// together; two of them are less than two heartbeats apart. That, after the lease itself, is
// the bound on a dead holder's replacement (semantics §4.5).
func (c *Claimer) Watch(ctx context.Context, scan Scan) error {
	if c.kind == pluginapi.Gate {
		return nil
	}
	base := time.Now()
	for ctx.Err() == nil {
		every := scanEvery(scan.Heartbeat())
		pause(ctx, time.Until(base)+rand.N(every))
		if err := c.scan(ctx, scan, every); err != nil && ctx.Err() == nil {
			c.log.WarnContext(ctx, "the store didn't tell which leases have ended", slog.Any("err", err))
		}
		base = base.Add(every)
		if now := time.Now(); base.Before(now) {
			base = now
		}
	}
	return nil
}

// scanEvery bounds the time between scans, so that a reload with a smaller heartbeat is soon
// seen.
func scanEvery(heartbeat time.Duration) time.Duration {
	if heartbeat <= 0 {
		return job.DefaultHeartbeat
	}
	return min(heartbeat, job.DefaultHeartbeat)
}

// scan reads all pages of one query. A page that isn't answered in the time of one heartbeat
// is asked for by the next scan.
func (c *Claimer) scan(ctx context.Context, scan Scan, timeout time.Duration) error {
	const limit = 1000
	query := pluginapi.ExpiredQuery{Limit: limit}
	for {
		call, cancel := context.WithTimeout(ctx, max(timeout, tryTimeout))
		page, err := c.store.Expired(call, query)
		cancel()
		if err != nil {
			return err
		}
		for _, ref := range page {
			run := job.Run{Job: ref.Job, Slot: job.Slot(ref.Slot)}
			if j := scan.Job(ref.Job); j != nil && !c.isBusy(run) {
				scan.Hand(j, run.Slot)
			}
		}
		if len(page) < limit {
			return nil
		}
		query.After = page[len(page)-1]
	}
}
