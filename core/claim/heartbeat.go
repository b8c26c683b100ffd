package claim

import (
	"context"
	"log/slog"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// reply is what came of one heartbeat.
type reply struct {
	verdict pluginapi.Verdict
	err     error
}

// keep sends a heartbeat every so often, and more often after one has failed, until the hold
// ends or is lost. The heartbeat under way is on a goroutine of its own: a store that hangs
// must not keep the work from being stopped in time.
func (h *Hold) keep() {
	defer close(h.done)
	var retry backoff
	var pending chan reply // nil: no heartbeat is under way
	defer func() {
		if pending != nil {
			<-pending
		}
	}()
	next := h.renewed() + h.lease.heartbeat
	for {
		now := h.c.boot()
		left := h.stopBy() - now
		if left <= 0 && h.lose("its lease couldn't be extended in time") {
			h.dropCalls()
			return
		}
		if pending == nil && now >= next {
			pending = h.send()
			next = now + h.lease.heartbeat
		}
		nap := h.nap(left)
		if pending == nil {
			nap = min(nap, next-now)
		}
		timer := time.NewTimer(nap)
		select {
		case <-h.quit:
			timer.Stop()
			return
		case <-timer.C:
		case r := <-pending:
			timer.Stop()
			pending = nil
			switch {
			case r.err != nil:
				h.missed(r.err, &retry)
				next = h.c.boot() + min(retry.next(), h.lease.heartbeat)
			case r.verdict == pluginapi.Lost:
				h.lose("another instance has taken it over, or it was ended")
				return
			default:
				retry = backoff{}
			}
		}
	}
}

// nap is how long keep may wait. Timers stand still in a suspend and the boot clock doesn't:
// it looks at that often enough to be in time all the same.
func (h *Hold) nap(left time.Duration) time.Duration {
	nap := min(max(h.lease.length/20, time.Millisecond), time.Minute)
	if left > 0 { // else the run is being ended, and isn't stopped for want of a lease
		nap = min(nap, left)
	}
	return nap
}

// missed logs a heartbeat without an answer: loudly the first in a row.
func (h *Hold) missed(err error, retry *backoff) {
	level := slog.LevelDebug
	if retry.last == 0 {
		level = slog.LevelWarn
	}
	h.log.LogAttrs(h.ctx, level, "a heartbeat got no answer", slog.Duration("left", h.stopBy()-h.c.boot()), slog.Any("err", err))
}

// send starts a heartbeat; the channel gets its reply.
func (h *Hold) send() chan reply {
	replies := make(chan reply, 1) // one reply: its sender never waits
	go func() {
		verdict, err := h.beat(h.calls)
		replies <- reply{verdict: verdict, err: err}
	}()
	return replies
}

// beat sends one heartbeat and notes its effect. It waits for a sixth of the lease at most,
// so that there is time for several before the work must stop.
func (h *Hold) beat(ctx context.Context) (pluginapi.Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, h.lease.length/6)
	defer cancel()
	sent := h.c.boot()
	result, err := h.c.store.Heartbeat(ctx, h.heartbeat(h.lease.length))
	switch {
	case err != nil:
		return 0, err
	case result.Verdict == pluginapi.Won:
		h.extend(sent, result.LeaseLeft)
	case result.Verdict != pluginapi.Lost:
		return 0, pluginapi.Errorf(pluginapi.Internal, "heartbeat", "the store answered with verdict %d", result.Verdict)
	}
	return result.Verdict, nil
}

func (h *Hold) heartbeat(length time.Duration) pluginapi.Heartbeat {
	return pluginapi.Heartbeat{Job: h.run.Job, Slot: pluginapi.Slot(h.run.Slot), Token: h.token, Lease: length}
}
