package wire_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/pluginpb"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/wire"
)

// random makes values as a store or the core could mean them.
type random struct{ *rand.Rand }

// each runs f with many random sources; the number names the one that failed.
func each(t *testing.T, f func(t *testing.T, r random)) {
	t.Helper()
	for seed := range uint64(200) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { f(t, random{rand.New(rand.NewPCG(seed, 0))}) })
	}
}

func (r random) text() string {
	return []string{"", "a", "käse", "a b\n\"c\"", strings.Repeat("x", 100)}[r.IntN(5)]
}
func (r random) ms() time.Duration { return time.Duration(r.Int64N(1e10)) * time.Millisecond }
func (r random) left() time.Duration {
	return time.Duration(r.Int64N(2e9)-1e9) * time.Millisecond
}
func (r random) slot() pluginapi.Slot { return pluginapi.Slot(1 + r.Int64N(1e14)) }
func (r random) job() string          { return []string{"a", "backup-db", "x:y.z_1"}[r.IntN(3)] }
func (r random) time() time.Time {
	if r.IntN(4) == 0 {
		return time.Time{}
	}
	return r.slot().Time()
}

func (r random) err() *pluginapi.Error {
	return &pluginapi.Error{
		Code: pluginapi.Code(r.IntN(int(pluginapi.Ambiguous) + 1)), Op: r.text(), Msg: r.text(), Diagnostics: r.diagnostics(),
	}
}

func (r random) diagnostics() (out []pluginapi.Diagnostic) {
	for range r.IntN(3) {
		d := pluginapi.Diagnostic{Severity: pluginapi.Severity(r.IntN(2)), Code: r.text(), Summary: r.text(), Detail: r.text()}
		for range r.IntN(3) {
			d.Path = append(d.Path, pluginapi.Step{Name: r.text(), Index: r.IntN(9)})
		}
		out = append(out, d)
	}
	return out
}

func equal[T any](t *testing.T, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestClaimsSurviveTheWire(t *testing.T) {
	each(t, func(t *testing.T, r random) {
		t.Helper()
		claims := []pluginapi.Claim{{
			Job: r.text(), Slot: r.slot(), Token: pluginapi.Token(r.text()), Instance: r.text(), Lease: r.ms(), MaxLate: r.ms(),
			MaxAttempts: r.IntN(9), Overlap: pluginapi.Overlap(r.IntN(2)),
		}}
		equal(t, wire.FromClaims(wire.ToClaims(claims)), claims)

		results := []pluginapi.ClaimResult{{
			Verdict: pluginapi.Won + pluginapi.Verdict(r.IntN(7)), Attempt: 1 + r.IntN(9), LeaseLeft: r.left(), Wait: r.ms(),
			Holder: r.text(), StoreTime: r.time(),
		}, {Err: r.err(), StoreTime: r.time()}}
		got, err := wire.FromClaimResults(2, wire.ToClaimResults(results))
		if err != nil {
			t.Fatal(err)
		}
		equal(t, got, results)
	})
}

func TestLeasesSurviveTheWire(t *testing.T) {
	each(t, func(t *testing.T, r random) {
		t.Helper()
		heartbeats := []pluginapi.Heartbeat{{Job: r.text(), Slot: r.slot(), Token: pluginapi.Token(r.text()), Lease: r.ms()}}
		equal(t, wire.FromHeartbeats(wire.ToHeartbeats(heartbeats)), heartbeats)
		beaten := []pluginapi.HeartbeatResult{
			{Verdict: pluginapi.Won + pluginapi.Verdict(r.IntN(2)), LeaseLeft: r.left()}, {Err: r.err()},
		}
		gotBeaten, err := wire.FromHeartbeatResults(2, wire.ToHeartbeatResults(beaten))
		if err != nil {
			t.Fatal(err)
		}
		equal(t, gotBeaten, beaten)

		finishes := []pluginapi.Finish{{
			Job: r.text(), Slot: r.slot(), Token: pluginapi.Token(r.text()), Outcome: pluginapi.Outcome(r.IntN(6)),
			ExitCode: r.IntN(300) - 1, Detail: r.text(),
		}}
		equal(t, wire.FromFinishes(wire.ToFinishes(finishes)), finishes)
		finished := []pluginapi.FinishResult{{Verdict: pluginapi.Done}, {Verdict: pluginapi.Lost}, {Err: r.err()}}
		gotFinished, err := wire.FromFinishResults(3, wire.ToFinishResults(finished))
		if err != nil {
			t.Fatal(err)
		}
		equal(t, gotFinished, finished)
	})
}

func TestHistorySurvivesTheWire(t *testing.T) {
	each(t, func(t *testing.T, r random) {
		t.Helper()
		expired := pluginapi.ExpiredQuery{Jobs: []string{r.job()}, After: pluginapi.RunRef{Job: r.job(), Slot: r.slot()}, Limit: r.IntN(9)}
		equal(t, wire.FromExpiredQuery(wire.ToExpiredQuery("1", expired)), expired)
		refs := []pluginapi.RunRef{{Job: r.job(), Slot: r.slot(), Attempt: 1 + r.IntN(9)}}
		got, err := wire.FromRefs(wire.ToRefs(refs))
		if err != nil {
			t.Fatal(err)
		}
		equal(t, got, refs)

		runs := pluginapi.RunsQuery{Job: r.text(), Slot: r.slot(), Running: r.IntN(2) == 0, Limit: r.IntN(9), Cursor: r.text()}
		equal(t, wire.FromRunsQuery(wire.ToRunsQuery("1", runs)), runs)
		page := pluginapi.RunsPage{Next: r.text(), Runs: []pluginapi.Run{{
			Job: r.job(), Slot: r.slot(), Outcome: pluginapi.Outcome(r.IntN(6)), ExitCode: r.IntN(9), Detail: r.text(),
			Finished: r.time(), LeaseLeft: r.left(),
			Attempts: []pluginapi.Attempt{{Number: r.IntN(9), Instance: r.text(), Claimed: r.time(), Released: r.IntN(2) == 0}},
		}}}
		equal(t, wire.FromRunsPage(wire.ToRunsPage(page)), page)
	})
}

func TestSettingsSurviveTheWire(t *testing.T) {
	each(t, func(t *testing.T, r random) {
		t.Helper()
		config := pluginapi.Config{Settings: []byte(`{"a":1}`), Instance: r.text()}
		equal(t, wire.FromConfig(wire.ToConfig(config)), config)
		info := pluginapi.Info{
			Strategy: r.text(), Kind: pluginapi.Gate + pluginapi.Kind(r.IntN(2)), HasHistory: r.IntN(2) == 0, Guarantee: r.text(),
			Memory:   pluginapi.Memory{Window: r.ms(), MaxRuns: r.IntN(9)},
			Limits:   pluginapi.Limits{MaxBatch: r.IntN(999), MaxInFlight: r.IntN(9)},
			Warnings: r.diagnostics(),
		}
		got, err := wire.FromInfo("configure", wire.ToInfo(info))
		if err != nil {
			t.Fatal(err)
		}
		equal(t, got, info)
		health := pluginapi.Health{Detail: r.text(), RoundTrip: time.Duration(r.IntN(1e6)) * time.Microsecond, StoreTime: r.time()}
		equal(t, wire.FromHealth(wire.ToHealth(health)), health)
	})
}

func TestSchemaSurvivesTheWire(t *testing.T) {
	var schema pluginapi.Schema
	for _, format := range []pluginapi.Format{pluginapi.AnyText, pluginapi.DurationText, pluginapi.SizeText, pluginapi.PathText} {
		schema.Attributes = append(schema.Attributes, pluginapi.Attribute{
			Name: fmt.Sprintf("a%d", format), Type: pluginapi.String, Format: format, Required: true, Sensitive: true,
			Default: []byte(`"x"`), OneOf: []string{"x", "y"}, Description: "d", Example: "e",
		})
	}
	for _, nesting := range []pluginapi.Nesting{pluginapi.NestSingle, pluginapi.NestList, pluginapi.NestMap} {
		schema.Blocks = append(schema.Blocks, pluginapi.Block{
			Name: fmt.Sprintf("b%d", nesting), Nesting: nesting, Description: "d",
			Schema: pluginapi.Schema{Attributes: []pluginapi.Attribute{{Name: "n", Type: pluginapi.MapOfString, Description: "d"}}},
		})
	}
	equal(t, wire.FromSchema(wire.ToSchema(schema)), schema)
}

func TestLevelSurvivesTheWire(t *testing.T) {
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		equal(t, wire.FromLevel(wire.ToLevel(level)), level)
	}
}

func TestErrorsSurviveTheWire(t *testing.T) {
	each(t, func(t *testing.T, r random) {
		t.Helper()
		want := r.err()
		equal(t, wire.FromStatus("claim", wire.ToStatus("claim", want)), want)
	})
	if err := wire.ToStatus("claim", nil); err != nil {
		t.Errorf("status of no error: %v", err)
	}
}

func TestRoundingTakesNoRights(t *testing.T) {
	const half = time.Millisecond / 2
	if got := wire.ToHeartbeats([]pluginapi.Heartbeat{{Lease: half}})[0].GetLeaseMs(); got != 1 {
		t.Errorf("a lease of half a millisecond became %d ms; 0 would give the run up", got)
	}
	for left, want := range map[time.Duration]int64{half: 0, -half: -1, 1500 * time.Microsecond: 1} {
		if got := wire.ToClaimResults([]pluginapi.ClaimResult{{LeaseLeft: left}})[0].GetLeaseLeftMs(); got != want {
			t.Errorf("%s of a lease left became %d ms; want %d", left, got, want)
		}
	}
	if got := wire.ToClaimResults([]pluginapi.ClaimResult{{Wait: half}})[0].GetWaitMs(); got != 1 {
		t.Errorf("a wait of half a millisecond became %d ms; want 1", got)
	}
	if got := wire.ToInfo(pluginapi.Info{Memory: pluginapi.Memory{Window: half}}).GetMemory().GetWindowMs(); got != 1 {
		t.Errorf("a memory of half a millisecond became %d ms; 0 would mean for ever", got)
	}
}

func TestOnlyThePluginSaysNotExecuted(t *testing.T) {
	transport := []error{
		context.Canceled, context.DeadlineExceeded, errors.New("EOF"),
		status.Error(codes.Unavailable, "connection refused"), status.Error(codes.ResourceExhausted, "message too large"),
		status.Error(codes.Internal, "stream reset"), status.Error(codes.Unknown, ""), status.Error(codes.Aborted, ""),
	}
	for _, err := range transport {
		if got := wire.FromStatus("claim", err); got.Code != pluginapi.Ambiguous {
			t.Errorf("%v became %s; want ambiguous", err, got.Code)
		}
	}
	for _, code := range []pluginapi.Code{pluginapi.Unavailable, pluginapi.Capacity} {
		if got := wire.FromStatus("claim", wire.ToStatus("claim", pluginapi.Errorf(code, "claim", "x"))); got.Code != code {
			t.Errorf("%s said by the plugin became %s", code, got.Code)
		}
	}
	if got := wire.FromStatus("expired", status.Error(codes.Unimplemented, "unknown method")); got.Code != pluginapi.Unsupported {
		t.Errorf("a call that the plugin doesn't have: %s; want unsupported", got.Code)
	}
	if got := wire.FromStatus("claim", wire.ToStatus("claim", errors.New("unclassified"))); got.Code != pluginapi.Ambiguous {
		t.Errorf("an unclassified error of a store: %s; want ambiguous", got.Code)
	}
}

func TestCauseBecomesPartOfTheMessage(t *testing.T) {
	cause := errors.New("disk full")
	for _, e := range []*pluginapi.Error{
		{Msg: "write run", Err: cause},
		{Msg: "write run: disk full", Err: cause},
		pluginapi.Errorf(pluginapi.Internal, "", "write run: %w", cause),
	} {
		if got := wire.FromError(wire.ToError(e)).Msg; got != "write run: disk full" {
			t.Errorf("message %q of %+v", got, e)
		}
	}
	if got := wire.FromError(wire.ToError(&pluginapi.Error{Err: cause})).Msg; got != "disk full" {
		t.Errorf("message %q; want the cause's", got)
	}
}

func TestWrongUTF8DoesNotFailTheBatch(t *testing.T) {
	got := wire.ToFinishes([]pluginapi.Finish{{Detail: "out \xff put"}})[0].GetDetail()
	if got != "out \uFFFD put" {
		t.Errorf("detail %q", got)
	}
}

func TestUnknownValuesOfARequestAreInvalid(t *testing.T) {
	claim := pluginapi.Claim{
		Job: "a", Slot: 1, Token: "t", Lease: time.Second, MaxAttempts: 1, Overlap: 7,
	}
	if got := wire.FromClaims(wire.ToClaims([]pluginapi.Claim{claim}))[0]; got.Check() == nil {
		t.Errorf("overlap 7 became %d, which passes the check", got.Overlap)
	}
	finish := pluginapi.Finish{Job: "a", Slot: 1, Token: "t", Outcome: 99}
	if got := wire.FromFinishes(wire.ToFinishes([]pluginapi.Finish{finish}))[0]; got.Check() == nil {
		t.Errorf("outcome 99 became %d, which passes the check", got.Outcome)
	}
}

func TestNonsenseOfAPluginIsInternal(t *testing.T) {
	year := int64(365 * 24 * 3600 * 1000)
	nonsense := map[string]*pluginpb.ClaimResult{
		"no verdict":          {},
		"an unknown verdict":  {Verdict: 99},
		"a negative verdict":  {Verdict: -1},
		"verdict and error":   {Verdict: pluginpb.Verdict_VERDICT_WON, Attempt: 1, Error: &pluginpb.Error{Code: pluginpb.ErrorCode_ERROR_CODE_UNAVAILABLE}},
		"won without attempt": {Verdict: pluginpb.Verdict_VERDICT_WON},
		"a negative attempt":  {Verdict: pluginpb.Verdict_VERDICT_DONE, Attempt: -1},
		"a lease of ages":     {Verdict: pluginpb.Verdict_VERDICT_WON, Attempt: 1, LeaseLeftMs: year + 1},
		"an endless lease":    {Verdict: pluginpb.Verdict_VERDICT_WON, Attempt: 1, LeaseLeftMs: 1<<63 - 1},
		"a negative wait":     {Verdict: pluginpb.Verdict_VERDICT_EARLY, WaitMs: -1},
	}
	for name, result := range nonsense {
		got, err := wire.FromClaimResults(1, []*pluginpb.ClaimResult{result})
		if err != nil || got[0].Err == nil || got[0].Err.Code != pluginapi.Internal || got[0].Verdict != 0 {
			t.Errorf("%s: %+v, %v; want an item's error Internal", name, got, err)
		}
	}
	heartbeat, err := wire.FromHeartbeatResults(1, []*pluginpb.HeartbeatResult{{Verdict: pluginpb.Verdict_VERDICT_DONE}})
	if err != nil || heartbeat[0].Err == nil || heartbeat[0].Err.Code != pluginapi.Internal {
		t.Errorf("a heartbeat answered DONE: %+v, %v", heartbeat, err)
	}
	finish, err := wire.FromFinishResults(1, []*pluginpb.FinishResult{{Verdict: pluginpb.Verdict_VERDICT_WON}})
	if err != nil || finish[0].Err == nil || finish[0].Err.Code != pluginapi.Internal {
		t.Errorf("a finish answered WON: %+v, %v", finish, err)
	}
	if _, err := wire.FromRefs([]*pluginpb.RunRef{{Job: "../x", SlotMs: 1, Attempt: 1}}); err == nil || pluginapi.CodeOf(err) != pluginapi.Internal {
		t.Errorf("a run of job ../x: %v", err)
	}
}

func TestAnswersOfTheWrongLengthAreInternal(t *testing.T) {
	_, claim := wire.FromClaimResults(2, make([]*pluginpb.ClaimResult, 1))
	_, heartbeat := wire.FromHeartbeatResults(0, make([]*pluginpb.HeartbeatResult, 1))
	_, finish := wire.FromFinishResults(1, nil)
	for _, err := range []error{claim, heartbeat, finish} {
		if err == nil || pluginapi.CodeOf(err) != pluginapi.Internal {
			t.Errorf("%v; want an error Internal", err)
		}
	}
}

func TestUntrustedInfoIsRefused(t *testing.T) {
	for name, info := range map[string]*pluginpb.Info{
		"nothing":           nil,
		"no kind":           {},
		"an unknown kind":   {Kind: 9},
		"a negative memory": {Kind: pluginpb.Kind_KIND_GATE, Memory: &pluginpb.Memory{WindowMs: -1}},
		"negative limits":   {Kind: pluginpb.Kind_KIND_GATE, Limits: &pluginpb.Limits{MaxInFlight: -1}},
	} {
		if _, err := wire.FromInfo("configure", info); err == nil || pluginapi.CodeOf(err) != pluginapi.Internal {
			t.Errorf("%s: %v; want an error Internal", name, err)
		}
	}
	info, err := wire.FromInfo("configure", &pluginpb.Info{
		Kind: pluginpb.Kind_KIND_LEASE, Limits: &pluginpb.Limits{MaxBatch: 1 << 30, MaxInFlight: 1 << 30},
		Memory: &pluginpb.Memory{WindowMs: 1 << 62},
	})
	if err != nil || info.Limits.MaxBatch > 4096 || info.Limits.MaxInFlight > 256 || info.Memory.Window <= 0 {
		t.Errorf("huge values: %+v, %v; want them cut", info, err)
	}
}
