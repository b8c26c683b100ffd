package wire_test

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/pluginpb"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/wire"
)

// FuzzAnswers gives whatever a plugin could answer to the core's side: every item then has a
// verdict of the contract or an error, and nothing that the core acts on is out of range.
func FuzzAnswers(f *testing.F) {
	seed, err := proto.Marshal(&pluginpb.ClaimResponse{Results: wire.ToClaimResults([]pluginapi.ClaimResult{
		{Verdict: pluginapi.Won, Attempt: 1, LeaseLeft: 1e9, Holder: "a"},
		{Err: pluginapi.Errorf(pluginapi.Unavailable, "claim", "no")},
	})})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte("\x0a\x02\x08\x63"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var claim pluginpb.ClaimResponse
		if proto.Unmarshal(data, &claim) == nil {
			results, err := wire.FromClaimResults(len(claim.GetResults()), claim.GetResults())
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range results {
				if (r.Verdict.String() == "no answer") == (r.Err == nil) {
					t.Errorf("%+v has neither or both of verdict and error", r)
				}
				if r.LeaseLeft > pluginapi.MaxLease || r.Wait < 0 || r.Attempt < 0 || r.Verdict == pluginapi.Won && r.Attempt == 0 {
					t.Errorf("%+v is out of range", r)
				}
			}
		}
		var heartbeat pluginpb.HeartbeatResponse
		if proto.Unmarshal(data, &heartbeat) == nil {
			results, err := wire.FromHeartbeatResults(len(heartbeat.GetResults()), heartbeat.GetResults())
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range results {
				if (r.Verdict == pluginapi.Won || r.Verdict == pluginapi.Lost) == (r.Err != nil) {
					t.Errorf("%+v has neither or both of verdict and error", r)
				}
			}
		}
		var info pluginpb.Info
		if proto.Unmarshal(data, &info) == nil {
			if got, err := wire.FromInfo("configure", &info); err == nil && (got.Kind.String() == "unknown" || got.Memory.Window < 0 || got.Limits.MaxBatch < 0) {
				t.Errorf("%+v is out of range", got)
			}
		}
		var page pluginpb.RunsResponse
		if proto.Unmarshal(data, &page) == nil {
			wire.FromRunsPage(&page)
		}
		var failed pluginpb.Error
		if proto.Unmarshal(data, &failed) == nil {
			if got := wire.FromError(&failed); len(got.Msg) > 8<<10 {
				t.Errorf("a message of %d bytes", len(got.Msg))
			}
		}
	})
}

// FuzzRequests gives whatever a core could ask to the plugin's side: no panic, and what
// passes the check is in range.
func FuzzRequests(f *testing.F) {
	seed, err := proto.Marshal(&pluginpb.ClaimRequest{StoreId: "1", Claims: wire.ToClaims([]pluginapi.Claim{
		{Job: "a", Slot: 1, Token: "t", Lease: 1e9, MaxAttempts: 3},
	})})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, data []byte) {
		var claim pluginpb.ClaimRequest
		if proto.Unmarshal(data, &claim) == nil {
			for _, c := range wire.FromClaims(claim.GetClaims()) {
				if c.Check() == nil && (c.MaxLate < 0 || c.Lease <= 0 || c.MaxAttempts < 1) {
					t.Errorf("%+v passes its check", c)
				}
			}
		}
		var finish pluginpb.FinishRequest
		if proto.Unmarshal(data, &finish) == nil {
			for _, f := range wire.FromFinishes(finish.GetFinishes()) {
				if f.Check() == nil && f.Outcome == 0 {
					t.Errorf("%+v passes its check", f)
				}
			}
		}
		var expired pluginpb.ExpiredRequest
		if proto.Unmarshal(data, &expired) == nil {
			wire.FromExpiredQuery(&expired)
		}
		var described pluginpb.DescribeResponse
		if proto.Unmarshal(data, &described) == nil {
			_ = wire.FromSchema(described.GetSchema()).Check() // an error is as good as none
		}
	})
}
