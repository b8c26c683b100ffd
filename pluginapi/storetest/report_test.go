package storetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/memstore"
	"github.com/anarchon-scheduler/anarchon/pluginapi/storetest"
	"github.com/anarchon-scheduler/anarchon/pluginapi/storetest/internal/broken"
)

func ExampleExecute() {
	server := memstore.New(memstore.Options{})
	target := storetest.Target{New: func(*slog.Logger) pluginapi.Store { return server.Open() }}
	report := storetest.Execute(context.Background(), target, storetest.Options{Only: []string{"Takeover/", "S21"}, Seed: 7})
	_ = report.WriteText(os.Stdout)
	fmt.Println(report.OK())
	// Output:
	// TAP version 14
	// 1..7
	// # in process lease
	// ok 1 - S21 Gate/refuses_leases # SKIP only for gate stores
	// ok 2 - S41 Takeover/next_attempt
	// ok 3 - S42 Takeover/one_winner
	// ok 4 - S43 Takeover/live_lease_is_safe
	// ok 5 - S44 Takeover/former_holder_doesnt_claim
	// ok 6 - S45 Takeover/former_heartbeat_is_fenced
	// ok 7 - S46 Takeover/former_finish_is_fenced
	// # 6 passed, 0 failed, 1 skipped; seed 7
	// true
}

func TestCheckIDsAndNamesAreUniqueAndWellFormed(t *testing.T) {
	seen := map[string]bool{}
	id, name := regexp.MustCompile(`^[CSFHLP]\d\d$`), regexp.MustCompile(`^[A-Z][a-z]+/[a-z0-9_]+$`)
	for _, check := range storetest.Checks() {
		if seen[check.ID] || seen[check.Name] {
			t.Errorf("%s %s stands twice", check.ID, check.Name)
		}
		seen[check.ID], seen[check.Name] = true, true
		if !id.MatchString(check.ID) || !name.MatchString(check.Name) || !strings.HasSuffix(check.Requirement, ".") {
			t.Errorf("%s %s: %q isn't well-formed", check.ID, check.Name, check.Requirement)
		}
	}
}

func TestReportOfAFailure(t *testing.T) {
	report := storetest.Execute(t.Context(), brokenTarget(broken.ClientClock), storetest.Options{Only: []string{"S87"}, Seed: 42})
	var text strings.Builder
	if err := report.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"not ok 1 - S87 Clock/client_is_no_clock\n",
		"# required: Whether a lease is live isn't judged by the clock of the client's process.\n",
		"# a live lease, asked by a clock that is off by 2h0m0s: got won, want running\n",
		"# again: only S87, seed 42\n",
		"# 0 passed, 1 failed, 0 skipped; seed 42\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("report: got\n%s\nwant in it: %s", text.String(), want)
		}
	}
	encoded, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	var decoded struct {
		Kind    string
		Seed    uint64
		Results []struct{ ID, Status string }
	}
	if err := json.Unmarshal(encoded, &decoded); err != nil {
		t.Fatal(err)
	}
	if decoded.Kind != "lease" || decoded.Seed != 42 || len(decoded.Results) != 1 || decoded.Results[0].Status != "fail" {
		t.Errorf("JSON: got %s", encoded)
	}
	if report.OK() {
		t.Error("a report with a failure is OK")
	}
}

func TestAStoreThatCantBeConfiguredFailsOnce(t *testing.T) {
	target := storetest.Target{New: func(*slog.Logger) pluginapi.Store {
		return unreachable{memstore.New(memstore.Options{})}
	}}
	report := storetest.Execute(t.Context(), target, storetest.Options{})
	expectFailures(t, report, "C01")
	if report.Count(storetest.Skip) < 50 {
		t.Errorf("got %d skipped checks, want all that need a client", report.Count(storetest.Skip))
	}
}

type unreachable struct{ *memstore.Store }

func (unreachable) Configure(_ context.Context, config pluginapi.Config) (pluginapi.Info, error) {
	if config.Settings != nil { // settings that are wrong are found without the backend
		return pluginapi.Info{}, pluginapi.Errorf(pluginapi.Invalid, "configure", "no settings are known")
	}
	return pluginapi.Info{}, pluginapi.Errorf(pluginapi.Unavailable, "configure", "%w", errors.New("connection refused"))
}

func TestAPanickingStoreFailsItsChecksOnly(t *testing.T) {
	server := memstore.New(memstore.Options{})
	target := storetest.Target{New: func(*slog.Logger) pluginapi.Store { return panicking{server.Open()} }}
	report := storetest.Execute(t.Context(), target, storetest.Options{Only: []string{"S51", "S91", "S41"}})
	expectFailures(t, report, "S91")
}

type panicking struct{ *memstore.Store }

func (p panicking) Expired(ctx context.Context, query pluginapi.ExpiredQuery) ([]pluginapi.RunRef, error) {
	if len(query.Jobs) > 1 {
		panic("more than one job")
	}
	return p.Store.Expired(ctx, query)
}
