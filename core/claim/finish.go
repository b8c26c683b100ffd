package claim

import (
	"context"
	"errors"
	"strings"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

var errEnded = errors.New("the hold was ended before")

// Finish writes how the run ended, and ends the hold. It sends until the store answers or ctx
// ends, and blocks for that long; heartbeats go on meanwhile. nil means that the outcome is
// written; on a gate store, which keeps none, that there is nothing to write. [ErrLost] means
// that the run is another's and nothing was changed. After any other error the outcome may or
// may not be written, and the run is left to the end of its lease. The work must have ended.
func (h *Hold) Finish(ctx context.Context, outcome pluginapi.Outcome, exitCode int, detail string) error {
	defer h.close()
	if err := h.beginEnd(); err != nil {
		return err
	}
	if h.c.kind == pluginapi.Gate {
		return nil
	}
	finish := pluginapi.Finish{
		Job: h.run.Job, Slot: pluginapi.Slot(h.run.Slot), Token: h.token,
		Outcome: outcome, ExitCode: exitCode, Detail: cut(detail),
	}
	defer h.dropCalls() // before close, which else waits for a heartbeat that says nothing new
	return resend(ctx, func(ctx context.Context) error {
		result, err := h.c.store.Finish(ctx, finish)
		switch {
		case err != nil:
			return err
		case result.Verdict == pluginapi.Done:
			return nil
		case result.Verdict == pluginapi.Lost:
			return errNotOurs
		default:
			return pluginapi.Errorf(pluginapi.Internal, "finish", "the store answered with verdict %d", result.Verdict)
		}
	})
}

// Release gives the run up, and ends the hold: another instance can take it over at once, and
// the attempt isn't counted. It sends until the store answers or ctx ends, and blocks for
// that long. nil means that the run is given up. [ErrLost] means that it was another's
// already. After any other error the run waits for the end of its lease. A gate store can't
// take a run back: the error's code is Unsupported. The work must have ended.
func (h *Hold) Release(ctx context.Context) error {
	defer h.close()
	if err := h.beginEnd(); err != nil {
		return err
	}
	if h.c.kind == pluginapi.Gate {
		return pluginapi.Errorf(pluginapi.Unsupported, "release", "a gate store can't take a run back")
	}
	h.stopHeartbeats(ctx)
	resent := false
	return resend(ctx, func(ctx context.Context) error {
		result, err := h.c.store.Heartbeat(ctx, h.heartbeat(0))
		switch {
		case err != nil:
			resent = true
			return err
		case result.Verdict == pluginapi.Lost && !resent:
			return errNotOurs
		default: // after a first send that was executed, another may have the run by now
			return nil
		}
	})
}

// errNotOurs carries a code that isn't retried.
var errNotOurs error = &pluginapi.Error{Code: pluginapi.Conflict, Msg: "the store has the run under another token, or ended", Err: ErrLost}

// beginEnd makes the caller the one who ends the hold; later ones get an error.
func (h *Hold) beginEnd() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.lost != nil:
		return h.lost
	case h.ending:
		return errEnded
	}
	h.ending = true
	return nil
}

// stopHeartbeats waits for the heartbeat that is under way, or until ctx ends.
func (h *Hold) stopHeartbeats(ctx context.Context) {
	stop := context.AfterFunc(ctx, h.dropCalls)
	defer stop()
	close(h.quit)
	<-h.done
}

// close frees what the hold holds; repeating it changes nothing.
func (h *Hold) close() {
	h.mu.Lock()
	select {
	case <-h.quit:
	default:
		close(h.quit)
	}
	lost := h.lost
	h.mu.Unlock()
	<-h.done
	h.dropCalls()
	h.cancel(nil)
	if lost == nil { // else this instance may be busy with the run's takeover by now
		h.c.end(h.run)
	}
}

// cut shortens text to what stores keep, at the boundary of a character.
func cut(text string) string {
	if len(text) <= pluginapi.MaxDetail {
		return text
	}
	return strings.ToValidUTF8(text[:pluginapi.MaxDetail], "")
}
