package storetest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/pluginclient"
)

// startPlugin opens a plugin process as the core does.
func (s *session) startPlugin(ctx context.Context, log *slog.Logger, level slog.Level) (*pluginclient.Plugin, error) {
	plugin, err := pluginclient.Open(ctx, pluginclient.Options{
		Path: s.target.Binary, PlainText: s.target.PlainText, Log: log, LogLevel: level, CoreVersion: "storetest",
	})
	if err != nil {
		return nil, err
	}
	described := plugin.Describe()
	s.described.Do(func() {
		s.description = description{name: described.Name, version: described.Version, schema: described.Schema}
	})
	return plugin, nil
}

// openBinary returns a configured client in a process of its own.
func (s *session) openBinary(ctx context.Context) (*client, error) {
	plugin, err := s.startPlugin(ctx, s.log, slog.LevelDebug)
	if err != nil {
		return nil, err
	}
	store, info, err := plugin.Configure(ctx, s.config())
	s.heard.note(info, err)
	if err != nil {
		return nil, errors.Join(err, plugin.Close(ctx))
	}
	return &client{Store: s.listen(store, info), process: plugin, end: plugin.Close}, nil
}

// freshBinary returns a client that isn't configured, in a process of its own.
func (s *session) freshBinary(ctx context.Context) (fresh, error) {
	plugin, err := s.startPlugin(ctx, s.log, slog.LevelDebug)
	if err != nil {
		return fresh{}, err
	}
	return fresh{validate: plugin.Validate, configure: plugin.Configure, end: plugin.Close}, nil
}

func binaryChecks() []Check {
	return append(handshakeChecks(),
		Check{"F05", "Faults/end_of_stdin_ends_it", "The end of standard input ends the plugin within 5 s, with exit code 0.", binary, endOfStdin},
		Check{"F06", "Faults/signals_dont_end_it", "SIGTERM and SIGINT don't end the plugin while its standard input is open.", binaryStore, signalsDontEnd},
		Check{"F07", "Faults/stopped_and_continued", "A call to a process that is stopped ends by its deadline; continued, the process answers the same token.", binaryStore, stoppedAndContinued},
		Check{"F08", "Faults/killed_in_a_batch", "A claim sent to a process that is killed, and sent again to another, is Won.", binaryStore, killedInBatch},
		Check{"F09", "Faults/host_dies_at_the_start", "A plugin whose standard input has ended before it answered ends within 5 s.", binary, hostDiesAtTheStart},
	)
}

func endOfStdin(ctx context.Context, t *trial) {
	p := t.startRaw(ctx)
	start := time.Now()
	t.closed(ctx, func(context.Context) error { return p.stdin.Close() })
	if _, err := p.wait(5 * time.Second); err != nil {
		t.errorf("%s after the end of standard input: %v, want exit code 0 within 5 s", time.Since(start), err)
	}
}

// hostDiesAtTheStart starts the plugin on an input that ends at once, as a pipe does whose
// writer has died. It does so several times: where in the start the end is met is chance.
func hostDiesAtTheStart(ctx context.Context, t *trial) {
	for range 10 {
		short, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := t.rawCommand(short).Run() // kills it when the time is over
		late := short.Err() != nil
		cancel()
		if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
			t.fatalf("start: %v", err)
		}
		if late {
			t.fatalf("the plugin still ran 5 s after its start: nothing would ever end it")
		}
	}
}

func signalsDontEnd(ctx context.Context, t *trial) {
	c := t.another(ctx)
	t.signal(c, syscall.SIGTERM)
	t.signal(c, syscall.SIGINT)
	// A plugin that stops politely takes its time over it.
	select {
	case <-c.process.Done():
		t.errorf("the plugin ended: %v", c.process.Err())
	case <-time.After(500 * time.Millisecond):
		t.claimOne(ctx, c.Store, t.claim(t.job("")), pluginapi.Won, "a claim after the signals")
	}
}

func stoppedAndContinued(ctx context.Context, t *trial) {
	c := t.another(ctx)
	claim := t.claim(t.job(""))
	t.signal(c, syscall.SIGSTOP)
	short, cancel := context.WithTimeout(ctx, promptly)
	defer cancel()
	start := time.Now()
	_, err := c.Claim(short, []pluginapi.Claim{claim})
	if took := time.Since(start); took >= 10*promptly {
		t.errorf("a claim to a stopped process, with a deadline of %s: took %s", promptly, took)
	}
	if err == nil || pluginapi.CodeOf(err) != pluginapi.Ambiguous {
		t.errorf("a claim to a stopped process: got %v, want an ambiguous error", err)
	}
	t.signal(c, syscall.SIGCONT)
	t.claimOne(ctx, c.Store, claim, pluginapi.Won, "the same token after the process was continued")
	t.claimOne(ctx, c.Store, t.rival(claim), t.taken(), "another token after that")
}

// signal sends a signal to the client's process.
func (t *trial) signal(c *client, signal syscall.Signal) {
	if err := syscall.Kill(c.process.PID(), signal); err != nil {
		t.fatalf("send %s to process %d: %v", signal, c.process.PID(), err)
	}
}

// killedInBatch kills a process while eight callers send it batches, and sends all that was
// sent to it to another process.
func killedInBatch(ctx context.Context, t *trial) {
	doomed := t.another(ctx)
	const callers = 8
	size := min(32, t.maxBatch())
	sent := make([][]pluginapi.Claim, callers) // by caller
	answered := make([]int, callers)           // how many of them have an answer
	first := make(chan struct{}, callers)
	var calling sync.WaitGroup
	for i := range callers {
		calling.Go(func() {
			for round := 0; ; round++ {
				batch := make([]pluginapi.Claim, size)
				for k := range batch {
					batch[k] = t.claim(t.job(fmt.Sprintf(".%d.%d.%d", i, round, k)))
				}
				sent[i] = append(sent[i], batch...)
				if _, err := doomed.Claim(ctx, batch); err != nil {
					return // killed
				}
				answered[i] = len(sent[i])
				select {
				case first <- struct{}{}:
				default:
				}
			}
		})
	}
	select {
	case <-first:
	case <-doomed.process.Done():
	}
	t.signal(doomed, syscall.SIGKILL)
	calling.Wait()

	other := t.another(ctx)
	for i, claims := range sent {
		for start := 0; start < len(claims); start += size {
			batch := claims[start:min(start+size, len(claims))]
			if start < answered[i] {
				rivals := make([]pluginapi.Claim, len(batch))
				for k := range batch {
					rivals[k] = t.rival(batch[k])
				}
				for _, got := range t.claimAll(ctx, other, rivals...) {
					t.expect(got, t.taken(), "another token for a run that the killed process had answered")
				}
			}
			for _, got := range t.claimAll(ctx, other, batch...) {
				t.expect(got, pluginapi.Won, "the same token, to another process")
			}
		}
	}
}
