package memstore

import (
	"context"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// Gate is a client that can only say who was first: a [pluginapi.Store] and no
// [pluginapi.LeaseStore]. It works without Configure.
type Gate struct {
	client
}

var _ pluginapi.Store = (*Gate)(nil)

type gateKey struct {
	job  string
	slot pluginapi.Slot
}

// gateClaim is what a gate store keeps of a run: whose claim was first.
type gateClaim struct {
	token    pluginapi.Token
	instance string
	claimed  time.Time
}

// Open returns another gate client on the same data.
func (g *Gate) Open() *Gate { return &Gate{client{data: g.data}} }

// Validate refuses every setting: the store has none.
func (g *Gate) Validate(_ context.Context, config pluginapi.Config) (pluginapi.Info, error) {
	return pluginapi.Info{
		Kind:       pluginapi.Gate,
		Memory:     pluginapi.Memory{Window: g.data.options.Window},
		HasHistory: true,
		Guarantee:  "exactly one winner for each slot within the window, until the process ends",
	}, checkSettings(config)
}

// Configure does what Validate does: there is nothing to connect to.
func (g *Gate) Configure(ctx context.Context, config pluginapi.Config) (pluginapi.Info, error) {
	if err := g.begin(ctx, "configure", 0); err != nil {
		return pluginapi.Info{}, err
	}
	defer g.end()
	return g.Validate(ctx, config)
}

// Claim answers who was first. Its verdicts are Won and Lost.
func (g *Gate) Claim(ctx context.Context, claims []pluginapi.Claim) ([]pluginapi.ClaimResult, error) {
	if err := g.begin(ctx, "claim", len(claims)); err != nil {
		return nil, err
	}
	defer g.end()
	g.data.mu.Lock()
	defer g.data.mu.Unlock()
	now := g.data.options.Now()
	g.data.forgetGate(now)
	results := make([]pluginapi.ClaimResult, len(claims))
	for i, c := range claims {
		results[i] = g.data.claimGate(c, now)
		results[i].StoreTime = now
	}
	return results, nil
}

func (d *data) claimGate(c pluginapi.Claim, now time.Time) pluginapi.ClaimResult {
	if err := c.Check(); err != nil {
		return pluginapi.ClaimResult{Err: err}
	}
	key := gateKey{c.Job, c.Slot}
	first, known := d.gate[key]
	if !known {
		first = gateClaim{c.Token, c.Instance, now}
		d.gate[key] = first
		d.gateOrder = append(d.gateOrder, key)
	}
	if first.token == c.Token {
		return pluginapi.ClaimResult{Verdict: pluginapi.Won, Attempt: 1, Holder: first.instance}
	}
	return pluginapi.ClaimResult{Verdict: pluginapi.Lost, Holder: first.instance}
}

// forgetGate forgets the claims that are older than the window, as the memory of every gate
// store ends.
func (d *data) forgetGate(now time.Time) {
	for len(d.gateOrder) > 0 && now.Sub(d.gate[d.gateOrder[0]].claimed) > d.options.Window {
		delete(d.gate, d.gateOrder[0])
		d.gateOrder = d.gateOrder[1:]
	}
}

// Runs reads the claims of the window. Their outcomes are unknown: nobody tells a gate store.
func (g *Gate) Runs(ctx context.Context, query pluginapi.RunsQuery) (pluginapi.RunsPage, error) {
	if err := g.begin(ctx, "runs", 0); err != nil {
		return pluginapi.RunsPage{}, err
	}
	defer g.end()
	g.data.mu.Lock()
	defer g.data.mu.Unlock()
	g.data.forgetGate(g.data.options.Now())
	var runs []pluginapi.Run
	for key, claim := range g.data.gate {
		runs = append(runs, pluginapi.Run{
			Job: key.job, Slot: key.slot,
			Attempts: []pluginapi.Attempt{{Number: 1, Instance: claim.instance, Claimed: claim.claimed}},
		})
	}
	return page(runs, query)
}
