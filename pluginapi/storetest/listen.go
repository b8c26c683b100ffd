package storetest

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// listen wraps a store so that the transcript has what it says. The wrapper is a LeaseStore
// only when the store is one and claims to be one, so that an assertion still tells the truth.
func (s *session) listen(store pluginapi.Store, info pluginapi.Info) pluginapi.Store {
	gate := &listener{Store: store, heard: s.heard}
	if lease, ok := store.(pluginapi.LeaseStore); ok && info.Kind == pluginapi.Lease {
		return &leaseListener{listener: gate, lease: lease}
	}
	return gate
}

// note adds an answer and its error.
func (tr *transcript) note(answer any, err error) {
	text, _ := json.Marshal(answer) //nolint:errchkjson // an answer that isn't JSON holds no text
	_, _ = fmt.Fprintf(tr, "%s\n", text)
	if err != nil {
		_, _ = fmt.Fprintf(tr, "%v\n%+v\n", err, pluginapi.AsError("", err).Diagnostics)
	}
}

// noteItem adds what an item shows: its error, and the holder's name.
func (tr *transcript) noteItem(holder string, err *pluginapi.Error) {
	if err != nil {
		tr.note(holder, err)
	} else if holder != "" && holder != instanceOne && holder != instanceTwo { // else it is what the suite gave
		tr.note(holder, nil)
	}
}

type listener struct {
	pluginapi.Store
	heard *transcript
}

func (l *listener) Claim(ctx context.Context, claims []pluginapi.Claim) ([]pluginapi.ClaimResult, error) {
	results, err := l.Store.Claim(ctx, claims)
	for _, r := range results {
		l.heard.noteItem(r.Holder, r.Err)
	}
	if err != nil {
		l.heard.note("claim", err)
	}
	return results, err
}

func (l *listener) Runs(ctx context.Context, query pluginapi.RunsQuery) (pluginapi.RunsPage, error) {
	page, err := l.Store.Runs(ctx, query)
	l.heard.note(page, err)
	return page, err
}

func (l *listener) Health(ctx context.Context) (pluginapi.Health, error) {
	health, err := l.Store.Health(ctx)
	l.heard.note(health, err)
	return health, err
}

type leaseListener struct {
	*listener
	lease pluginapi.LeaseStore
}

func (l *leaseListener) Heartbeat(ctx context.Context, heartbeats []pluginapi.Heartbeat) ([]pluginapi.HeartbeatResult, error) {
	results, err := l.lease.Heartbeat(ctx, heartbeats)
	for _, r := range results {
		l.heard.noteItem("", r.Err)
	}
	if err != nil {
		l.heard.note("heartbeat", err)
	}
	return results, err
}

func (l *leaseListener) Finish(ctx context.Context, finishes []pluginapi.Finish) ([]pluginapi.FinishResult, error) {
	results, err := l.lease.Finish(ctx, finishes)
	for _, r := range results {
		l.heard.noteItem("", r.Err)
	}
	if err != nil {
		l.heard.note("finish", err)
	}
	return results, err
}

func (l *leaseListener) Expired(ctx context.Context, query pluginapi.ExpiredQuery) ([]pluginapi.RunRef, error) {
	refs, err := l.lease.Expired(ctx, query)
	if err != nil {
		l.heard.note("expired", err)
	}
	return refs, err
}
