package pluginapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/memstore"
)

// A claim whose answer was lost is sent again with the same token: it is recognised. Another
// instance's claim isn't.
func Example() {
	ctx := context.Background()
	store := memstore.New(memstore.Options{})

	mine := pluginapi.Claim{
		Job: "backup", Slot: pluginapi.SlotOf(time.Now()), Token: pluginapi.NewToken(), Instance: "a",
		Lease: 30 * time.Second, MaxLate: time.Minute, MaxAttempts: 3,
	}
	theirs := mine
	theirs.Token, theirs.Instance = pluginapi.NewToken(), "b"

	results, err := store.Claim(ctx, []pluginapi.Claim{mine, theirs, mine})
	if err != nil {
		fmt.Println("no answer:", err)
		return
	}
	for _, result := range results {
		fmt.Println(result.Verdict, "attempt", result.Attempt, "held by", result.Holder)
	}
	// Output:
	// won attempt 1 held by a
	// running attempt 1 held by a
	// won attempt 1 held by a
}

func ExampleSlotOf() {
	slot := pluginapi.SlotOf(time.Date(2026, 12, 2, 1, 30, 0, 0, time.UTC))
	fmt.Println(int64(slot), slot.Time())
	// Output: 1796175000000 2026-12-02 01:30:00 +0000 UTC
}

func ExampleNewToken() {
	a, b := pluginapi.NewToken(), pluginapi.NewToken()
	fmt.Println(len(a) >= 26, a != b)
	// Output: true true
}

func ExampleClaim_Check() {
	claim := pluginapi.Claim{
		Job: "backup", Slot: 1, Token: "t", Lease: 0, MaxLate: time.Minute, MaxAttempts: 1,
	}
	if err := claim.Check(); err != nil {
		fmt.Println(err.Code, "-", err)
	}
	// Output: invalid - claim: lease 0s: want from 1ms to 8760h0m0s
}

func ExampleHeartbeat_Check() {
	release := pluginapi.Heartbeat{Job: "backup", Slot: 1, Token: "t", Lease: 0}
	fmt.Println(release.Check() == nil)
	// Output: true
}

func ExampleFinish_Check() {
	finish := pluginapi.Finish{Job: "backup", Slot: 1, Token: "t"}
	fmt.Println(finish.Check())
	// Output: finish: outcome 0 isn't one of this contract
}

func ExampleValidJob() {
	fmt.Println(pluginapi.ValidJob("db.backup:eu-1"), pluginapi.ValidJob("DB backup"))
	// Output: true false
}

func ExampleErrorf() {
	full := errors.New("disk full")
	err := pluginapi.Errorf(pluginapi.Capacity, "claim", "write run: %w", full)
	fmt.Println(err)
	fmt.Println(err.Code, errors.Is(err, full))
	// Output:
	// claim: write run: disk full
	// capacity true
}

// An error that nobody classified says nothing about what was executed.
func ExampleCodeOf() {
	fmt.Println(pluginapi.CodeOf(errors.New("connection reset")))
	fmt.Println(pluginapi.CodeOf(context.DeadlineExceeded))
	fmt.Println(pluginapi.CodeOf(pluginapi.Errorf(pluginapi.Unavailable, "claim", "not connected")))
	// Output:
	// ambiguous
	// ambiguous
	// unavailable
}

func ExampleAsError() {
	err := pluginapi.AsError("claim", context.DeadlineExceeded)
	fmt.Println(err)
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	// Output:
	// claim: no answer in time
	// true
}

func ExampleAttr() {
	problem := pluginapi.Diagnostic{Summary: "no such file", Path: pluginapi.Attr("tls", "ca_file")}
	fmt.Println(problem)
	// Output: tls.ca_file: no such file
}

func ExampleDecodeSettings() {
	var settings struct {
		Path string `json:"path"`
	}
	for _, text := range []string{`{"path": "/var/lib/runs"}`, `{"pth": "/var/lib/runs"}`} {
		err := pluginapi.DecodeSettings(pluginapi.Config{Settings: json.RawMessage(text)}, &settings)
		fmt.Printf("%s, %v\n", settings.Path, err)
	}
	// Output:
	// /var/lib/runs, <nil>
	// /var/lib/runs, decode settings: json: unknown field "pth"
}

func ExampleSchema_Check() {
	schema := pluginapi.Schema{Attributes: []pluginapi.Attribute{
		{Name: "path", Type: pluginapi.String, Format: pluginapi.PathText, Description: "The file."},
		{Name: "Path", Description: "Another one."},
	}}
	fmt.Println(schema.Check())
	// Output: name "Path": want a lower-case letter, then lower-case letters, digits and _
}
