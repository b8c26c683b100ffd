package wire

import (
	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/pluginpb"
)

// ToHeartbeats returns heartbeats in their protobuf form.
func ToHeartbeats(heartbeats []pluginapi.Heartbeat) []*pluginpb.Heartbeat {
	return each(heartbeats, func(h pluginapi.Heartbeat) *pluginpb.Heartbeat {
		return &pluginpb.Heartbeat{
			Job:     text(h.Job),
			SlotMs:  int64(h.Slot),
			Token:   text(string(h.Token)),
			LeaseMs: awayFromZero(h.Lease),
		}
	})
}

// FromHeartbeats is the inverse of [ToHeartbeats]. The heartbeats still have to be checked.
func FromHeartbeats(heartbeats []*pluginpb.Heartbeat) []pluginapi.Heartbeat {
	return each(heartbeats, func(h *pluginpb.Heartbeat) pluginapi.Heartbeat {
		return pluginapi.Heartbeat{
			Job:   h.GetJob(),
			Slot:  pluginapi.Slot(h.GetSlotMs()),
			Token: pluginapi.Token(h.GetToken()),
			Lease: duration(h.GetLeaseMs()),
		}
	})
}

// ToHeartbeatResults returns results in their protobuf form.
func ToHeartbeatResults(results []pluginapi.HeartbeatResult) []*pluginpb.HeartbeatResult {
	return each(results, func(r pluginapi.HeartbeatResult) *pluginpb.HeartbeatResult {
		return &pluginpb.HeartbeatResult{
			Verdict:     toVerdict(r.Verdict),
			LeaseLeftMs: floor(r.LeaseLeft),
			Error:       ToError(r.Err),
		}
	})
}

// FromHeartbeatResults is the inverse of [ToHeartbeatResults], as [FromClaimResults] is.
func FromHeartbeatResults(n int, results []*pluginpb.HeartbeatResult) ([]pluginapi.HeartbeatResult, error) {
	const op = "heartbeat"
	if err := checkLength(op, n, len(results)); err != nil {
		return nil, err
	}
	return each(results, func(r *pluginpb.HeartbeatResult) pluginapi.HeartbeatResult {
		verdict, err := fromVerdict(op, r.GetVerdict(), r.GetError(), pluginapi.Won, pluginapi.Lost)
		left := duration(r.GetLeaseLeftMs())
		if err == nil && left > pluginapi.MaxLease {
			err = pluginapi.Errorf(pluginapi.Internal, op, "the plugin answered %s of the lease left; at most %s are possible",
				left, pluginapi.MaxLease)
		}
		if err != nil {
			return pluginapi.HeartbeatResult{Err: err}
		}
		return pluginapi.HeartbeatResult{Verdict: verdict, LeaseLeft: left}
	}), nil
}

// ToFinishes returns finishes in their protobuf form.
func ToFinishes(finishes []pluginapi.Finish) []*pluginpb.Finish {
	return each(finishes, func(f pluginapi.Finish) *pluginpb.Finish {
		return &pluginpb.Finish{
			Job:      text(f.Job),
			SlotMs:   int64(f.Slot),
			Token:    text(string(f.Token)),
			Outcome:  toOutcome(f.Outcome),
			ExitCode: int32Of(f.ExitCode),
			Detail:   text(f.Detail),
		}
	})
}

// FromFinishes is the inverse of [ToFinishes]. The finishes still have to be checked.
func FromFinishes(finishes []*pluginpb.Finish) []pluginapi.Finish {
	return each(finishes, func(f *pluginpb.Finish) pluginapi.Finish {
		return pluginapi.Finish{
			Job:      f.GetJob(),
			Slot:     pluginapi.Slot(f.GetSlotMs()),
			Token:    pluginapi.Token(f.GetToken()),
			Outcome:  fromOutcome(f.GetOutcome()),
			ExitCode: int(f.GetExitCode()),
			Detail:   f.GetDetail(),
		}
	})
}

// ToFinishResults returns results in their protobuf form.
func ToFinishResults(results []pluginapi.FinishResult) []*pluginpb.FinishResult {
	return each(results, func(r pluginapi.FinishResult) *pluginpb.FinishResult {
		return &pluginpb.FinishResult{Verdict: toVerdict(r.Verdict), Error: ToError(r.Err)}
	})
}

// FromFinishResults is the inverse of [ToFinishResults], as [FromClaimResults] is.
func FromFinishResults(n int, results []*pluginpb.FinishResult) ([]pluginapi.FinishResult, error) {
	const op = "finish"
	if err := checkLength(op, n, len(results)); err != nil {
		return nil, err
	}
	return each(results, func(r *pluginpb.FinishResult) pluginapi.FinishResult {
		verdict, err := fromVerdict(op, r.GetVerdict(), r.GetError(), pluginapi.Done, pluginapi.Lost)
		return pluginapi.FinishResult{Verdict: verdict, Err: err}
	}), nil
}

func toOutcome(o pluginapi.Outcome) pluginpb.Outcome {
	switch o {
	case pluginapi.Succeeded:
		return pluginpb.Outcome_OUTCOME_SUCCEEDED
	case pluginapi.Failed:
		return pluginpb.Outcome_OUTCOME_FAILED
	case pluginapi.TimedOut:
		return pluginpb.Outcome_OUTCOME_TIMED_OUT
	case pluginapi.Cancelled:
		return pluginpb.Outcome_OUTCOME_CANCELLED
	case pluginapi.Interrupted:
		return pluginpb.Outcome_OUTCOME_INTERRUPTED
	default:
		return pluginpb.Outcome_OUTCOME_UNSPECIFIED
	}
}

func fromOutcome(o pluginpb.Outcome) pluginapi.Outcome {
	switch o {
	case pluginpb.Outcome_OUTCOME_SUCCEEDED:
		return pluginapi.Succeeded
	case pluginpb.Outcome_OUTCOME_FAILED:
		return pluginapi.Failed
	case pluginpb.Outcome_OUTCOME_TIMED_OUT:
		return pluginapi.TimedOut
	case pluginpb.Outcome_OUTCOME_CANCELLED:
		return pluginapi.Cancelled
	case pluginpb.Outcome_OUTCOME_INTERRUPTED:
		return pluginapi.Interrupted
	default:
		return 0
	}
}
