package wire

import (
	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/pluginpb"
)

// ToExpiredQuery returns q in its protobuf form.
func ToExpiredQuery(store string, q pluginapi.ExpiredQuery) *pluginpb.ExpiredRequest {
	request := &pluginpb.ExpiredRequest{StoreId: store, Jobs: each(q.Jobs, text), Limit: int32Of(q.Limit)}
	if q.After != (pluginapi.RunRef{}) {
		request.After = toRef(q.After)
	}
	return request
}

// FromExpiredQuery is the inverse of [ToExpiredQuery].
func FromExpiredQuery(r *pluginpb.ExpiredRequest) pluginapi.ExpiredQuery {
	return pluginapi.ExpiredQuery{Jobs: r.GetJobs(), After: fromRef(r.GetAfter()), Limit: int(r.GetLimit())}
}

// ToRefs returns refs in their protobuf form.
func ToRefs(refs []pluginapi.RunRef) []*pluginpb.RunRef { return each(refs, toRef) }

// FromRefs is the inverse of [ToRefs]. A ref that names no run is an Internal error of the
// whole answer: what isn't understood must not be skipped, or nobody would take that run over.
func FromRefs(refs []*pluginpb.RunRef) ([]pluginapi.RunRef, error) {
	for _, r := range refs {
		if !pluginapi.ValidJob(r.GetJob()) || r.GetSlotMs() <= 0 || r.GetAttempt() < 1 {
			return nil, pluginapi.Errorf(pluginapi.Internal, "expired", "the plugin answered job %.140q, slot %d, attempt %d, which is no run",
				r.GetJob(), r.GetSlotMs(), r.GetAttempt())
		}
	}
	return each(refs, fromRef), nil
}

func toRef(r pluginapi.RunRef) *pluginpb.RunRef {
	return &pluginpb.RunRef{Job: text(r.Job), SlotMs: int64(r.Slot), Attempt: int32Of(r.Attempt)}
}

func fromRef(r *pluginpb.RunRef) pluginapi.RunRef {
	return pluginapi.RunRef{Job: r.GetJob(), Slot: pluginapi.Slot(r.GetSlotMs()), Attempt: int(r.GetAttempt())}
}

// ToRunsQuery returns q in its protobuf form.
func ToRunsQuery(store string, q pluginapi.RunsQuery) *pluginpb.RunsRequest {
	return &pluginpb.RunsRequest{
		StoreId: store,
		Job:     text(q.Job),
		SlotMs:  int64(q.Slot),
		Running: q.Running,
		Limit:   int32Of(q.Limit),
		Cursor:  text(q.Cursor),
	}
}

// FromRunsQuery is the inverse of [ToRunsQuery].
func FromRunsQuery(r *pluginpb.RunsRequest) pluginapi.RunsQuery {
	return pluginapi.RunsQuery{
		Job:     r.GetJob(),
		Slot:    pluginapi.Slot(r.GetSlotMs()),
		Running: r.GetRunning(),
		Limit:   int(r.GetLimit()),
		Cursor:  r.GetCursor(),
	}
}

// ToRunsPage returns p in its protobuf form.
func ToRunsPage(p pluginapi.RunsPage) *pluginpb.RunsResponse {
	return &pluginpb.RunsResponse{Next: text(p.Next), Runs: each(p.Runs, func(r pluginapi.Run) *pluginpb.Run {
		return &pluginpb.Run{
			Job:         text(r.Job),
			SlotMs:      int64(r.Slot),
			Outcome:     toOutcome(r.Outcome),
			ExitCode:    int32Of(r.ExitCode),
			Detail:      text(r.Detail),
			FinishedMs:  millis(r.Finished),
			LeaseLeftMs: floor(r.LeaseLeft),
			Attempts: each(r.Attempts, func(a pluginapi.Attempt) *pluginpb.Attempt {
				return &pluginpb.Attempt{
					Number:    int32Of(a.Number),
					Instance:  text(a.Instance),
					ClaimedMs: millis(a.Claimed),
					Released:  a.Released,
				}
			}),
		}
	})}
}

// FromRunsPage is the inverse of [ToRunsPage]. The history is for people to read, so an odd
// value in it is no error.
func FromRunsPage(p *pluginpb.RunsResponse) pluginapi.RunsPage {
	return pluginapi.RunsPage{Next: p.GetNext(), Runs: each(p.GetRuns(), func(r *pluginpb.Run) pluginapi.Run {
		return pluginapi.Run{
			Job:       clip(r.GetJob(), 128),
			Slot:      pluginapi.Slot(r.GetSlotMs()),
			Outcome:   fromOutcome(r.GetOutcome()),
			ExitCode:  int(r.GetExitCode()),
			Detail:    clip(r.GetDetail(), pluginapi.MaxDetail),
			Finished:  reading(r.GetFinishedMs()),
			LeaseLeft: duration(r.GetLeaseLeftMs()),
			Attempts: each(r.GetAttempts(), func(a *pluginpb.Attempt) pluginapi.Attempt {
				return pluginapi.Attempt{
					Number:   int(a.GetNumber()),
					Instance: clip(a.GetInstance(), 128),
					Claimed:  reading(a.GetClaimedMs()),
					Released: a.GetReleased(),
				}
			}),
		}
	})}
}
