package storetest

import (
	"context"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

func gateChecks() []Check {
	return []Check{
		{"S21", "Gate/refuses_leases", "A gate store has no lease calls, or answers them Unsupported.", gateStore, gateRefusesLeases},
		{"S22", "Gate/remembers_its_window", "A gate store knows a claim for as long as its memory says.", gateStore, gateRemembers},
	}
}

func gateRefusesLeases(ctx context.Context, t *trial) {
	c, err := t.fresh(ctx)
	if err != nil {
		t.fatalf("another client: %v", err)
	}
	defer func() { t.closed(ctx, c.end) }()
	store, _, err := c.configure(ctx, t.config())
	if err != nil {
		t.fatalf("configure: %v", err)
	}
	lease, ok := store.(pluginapi.LeaseStore)
	if !ok {
		return
	}
	calls := map[string]func() error{
		"heartbeat": func() error { _, err := lease.Heartbeat(ctx, nil); return err },
		"finish":    func() error { _, err := lease.Finish(ctx, nil); return err },
		"expired":   func() error { _, err := lease.Expired(ctx, pluginapi.ExpiredQuery{}); return err },
	}
	for name, call := range calls {
		if err := call(); err == nil || pluginapi.CodeOf(err) != pluginapi.Unsupported {
			t.errorf("%s: got %v, want an unsupported error", name, err)
		}
	}
}

func gateRemembers(ctx context.Context, t *trial) {
	if t.target.Advance == nil {
		t.skipf("needs Target.Advance")
	}
	window := t.info.Memory.Window
	if window == 0 {
		window = 24 * time.Hour
	}
	a, b := t.pair()
	c := t.claim(t.job(""))
	t.claimOne(ctx, a, c, pluginapi.Won, "first claim")
	t.target.Advance(window - time.Second)
	t.claimOne(ctx, b, t.rival(c), pluginapi.Lost, "another token a second before the memory ends")
	t.claimOne(ctx, b, c, pluginapi.Won, "the same token a second before the memory ends")
}
