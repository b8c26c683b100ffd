package claim

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// tryTimeout is how long one send of a claim or a finish waits for its answer. A store that
// is well answers in milliseconds; after this long a second send is likelier to get through.
const tryTimeout = 2 * time.Second

// retryable tells whether the same request may be sent again.
func retryable(err error) bool {
	switch pluginapi.CodeOf(err) {
	case pluginapi.Ambiguous, pluginapi.Unavailable, pluginapi.Capacity:
		return true
	default:
		return false
	}
}

// resend sends until there is an answer, an error that asking again doesn't cure, or the end
// of ctx. It returns the last error.
func resend(ctx context.Context, send func(context.Context) error) error {
	var retry backoff
	for {
		call, cancel := context.WithTimeout(ctx, tryTimeout)
		err := send(call)
		cancel()
		if err == nil || !retryable(err) || ctx.Err() != nil {
			return err
		}
		pause(ctx, retry.next())
		if ctx.Err() != nil {
			return err
		}
	}
}

// backoff gives the pauses between sends: 100 ms, doubled up to 2 s, each of them shortened
// by a random part of up to a half so that instances don't come back together.
type backoff struct{ last time.Duration }

func (b *backoff) next() time.Duration {
	b.last = min(max(2*b.last, 100*time.Millisecond), 2*time.Second)
	return b.last - rand.N(b.last/2)
}

// pause waits for d or the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
