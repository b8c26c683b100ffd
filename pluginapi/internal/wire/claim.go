package wire

import (
	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/pluginpb"
)

// unknown is an enum's value that the contract doesn't have; the item's Check refuses it.
const unknown = -1

// ToClaims returns claims in their protobuf form.
func ToClaims(claims []pluginapi.Claim) []*pluginpb.Claim {
	return each(claims, func(c pluginapi.Claim) *pluginpb.Claim {
		overlap := pluginpb.Overlap(unknown)
		switch c.Overlap {
		case pluginapi.OverlapSkip:
			overlap = pluginpb.Overlap_OVERLAP_SKIP
		case pluginapi.OverlapAllow:
			overlap = pluginpb.Overlap_OVERLAP_ALLOW
		}
		return &pluginpb.Claim{
			Job:         text(c.Job),
			SlotMs:      int64(c.Slot),
			Token:       text(string(c.Token)),
			Instance:    text(c.Instance),
			LeaseMs:     awayFromZero(c.Lease),
			MaxLateMs:   awayFromZero(c.MaxLate),
			MaxAttempts: int32Of(c.MaxAttempts),
			Overlap:     overlap,
		}
	})
}

// FromClaims is the inverse of [ToClaims]. The claims still have to be checked.
func FromClaims(claims []*pluginpb.Claim) []pluginapi.Claim {
	return each(claims, func(c *pluginpb.Claim) pluginapi.Claim {
		overlap := pluginapi.Overlap(unknown)
		switch c.GetOverlap() {
		case pluginpb.Overlap_OVERLAP_UNSPECIFIED, pluginpb.Overlap_OVERLAP_SKIP:
			overlap = pluginapi.OverlapSkip
		case pluginpb.Overlap_OVERLAP_ALLOW:
			overlap = pluginapi.OverlapAllow
		}
		return pluginapi.Claim{
			Job:         c.GetJob(),
			Slot:        pluginapi.Slot(c.GetSlotMs()),
			Token:       pluginapi.Token(c.GetToken()),
			Instance:    c.GetInstance(),
			Lease:       duration(c.GetLeaseMs()),
			MaxLate:     duration(c.GetMaxLateMs()),
			MaxAttempts: int(c.GetMaxAttempts()),
			Overlap:     overlap,
		}
	})
}

// ToClaimResults returns results in their protobuf form.
func ToClaimResults(results []pluginapi.ClaimResult) []*pluginpb.ClaimResult {
	return each(results, func(r pluginapi.ClaimResult) *pluginpb.ClaimResult {
		return &pluginpb.ClaimResult{
			Verdict:     toVerdict(r.Verdict),
			Attempt:     int32Of(r.Attempt),
			LeaseLeftMs: floor(r.LeaseLeft),
			WaitMs:      awayFromZero(r.Wait),
			Holder:      text(r.Holder),
			Error:       ToError(r.Err),
			StoreTimeMs: millis(r.StoreTime),
		}
	})
}

// FromClaimResults is the inverse of [ToClaimResults] for a batch of n claims. An item that
// makes no sense gets an Internal error of its own; a list of another length is one as a whole.
func FromClaimResults(n int, results []*pluginpb.ClaimResult) ([]pluginapi.ClaimResult, error) {
	if err := checkLength("claim", n, len(results)); err != nil {
		return nil, err
	}
	return each(results, fromClaimResult), nil
}

func fromClaimResult(r *pluginpb.ClaimResult) pluginapi.ClaimResult {
	fault := func(format string, args ...any) pluginapi.ClaimResult {
		return pluginapi.ClaimResult{Err: pluginapi.Errorf(pluginapi.Internal, "claim", format, args...)}
	}
	left := duration(r.GetLeaseLeftMs())
	verdict, err := fromVerdict("claim", r.GetVerdict(), r.GetError(), pluginapi.Won, pluginapi.Lost,
		pluginapi.Running, pluginapi.Done, pluginapi.Overlapping, pluginapi.Late, pluginapi.Early)
	switch {
	case err != nil:
		return pluginapi.ClaimResult{Err: err, StoreTime: reading(r.GetStoreTimeMs())}
	case r.GetAttempt() < 0 || verdict == pluginapi.Won && r.GetAttempt() == 0:
		return fault("the plugin answered %s with attempt %d", verdict, r.GetAttempt())
	case left > pluginapi.MaxLease:
		return fault("the plugin answered %s with %s of the lease left; at most %s are possible", verdict, left, pluginapi.MaxLease)
	case r.GetWaitMs() < 0:
		return fault("the plugin answered %s with a wait of %d ms", verdict, r.GetWaitMs())
	}
	return pluginapi.ClaimResult{
		Verdict:   verdict,
		Attempt:   int(r.GetAttempt()),
		LeaseLeft: left,
		Wait:      duration(r.GetWaitMs()),
		Holder:    clip(r.GetHolder(), 128),
		StoreTime: reading(r.GetStoreTimeMs()),
	}
}

func toVerdict(v pluginapi.Verdict) pluginpb.Verdict {
	switch v {
	case pluginapi.Won:
		return pluginpb.Verdict_VERDICT_WON
	case pluginapi.Lost:
		return pluginpb.Verdict_VERDICT_LOST
	case pluginapi.Running:
		return pluginpb.Verdict_VERDICT_RUNNING
	case pluginapi.Done:
		return pluginpb.Verdict_VERDICT_DONE
	case pluginapi.Overlapping:
		return pluginpb.Verdict_VERDICT_OVERLAP
	case pluginapi.Late:
		return pluginpb.Verdict_VERDICT_LATE
	case pluginapi.Early:
		return pluginpb.Verdict_VERDICT_EARLY
	default:
		return pluginpb.Verdict_VERDICT_UNSPECIFIED
	}
}

// fromVerdict returns the verdict if it is one of allowed and there is no error beside it.
func fromVerdict(op string, v pluginpb.Verdict, e *pluginpb.Error, allowed ...pluginapi.Verdict) (pluginapi.Verdict, *pluginapi.Error) {
	if e != nil {
		if v != pluginpb.Verdict_VERDICT_UNSPECIFIED {
			return 0, pluginapi.Errorf(pluginapi.Internal, op, "the plugin answered both %s and an error", v)
		}
		return 0, FromError(e)
	}
	for _, verdict := range allowed {
		if toVerdict(verdict) == v {
			return verdict, nil
		}
	}
	return 0, pluginapi.Errorf(pluginapi.Internal, op, "the plugin answered verdict %d, which this call doesn't have", v)
}

func checkLength(op string, want, got int) error {
	if want != got {
		return pluginapi.Errorf(pluginapi.Internal, op, "the plugin answered %d items for a batch of %d", got, want)
	}
	return nil
}
