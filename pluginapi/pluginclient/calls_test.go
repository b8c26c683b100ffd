package pluginclient_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/pluginclient"
)

// claimOf returns a claim of the job that is right in all parts.
func claimOf(job string) pluginapi.Claim {
	return pluginapi.Claim{
		Job: job, Slot: pluginapi.SlotOf(time.Now()), Token: pluginapi.NewToken(), Instance: "a",
		Lease: time.Minute, MaxLate: time.Minute, MaxAttempts: 3,
	}
}

func configure(t *testing.T, plugin *pluginclient.Plugin, config pluginapi.Config) pluginapi.Store {
	t.Helper()
	store, _, err := plugin.Configure(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func TestStoreOfAPlugin(t *testing.T) {
	plugin := open(t, self(t, "good"))
	got := plugin.Describe()
	want := pluginclient.Description{Name: "test", Version: "1.2.3", Protocol: 1, Leases: true, Schema: secretSchema}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Describe = %+v; want %+v", got, want)
	}
	if err := plugin.Ping(t.Context()); err != nil {
		t.Errorf("Ping: %v", err)
	}
	store := configure(t, plugin, pluginapi.Config{Instance: "a"})
	leases, ok := store.(pluginapi.LeaseStore)
	if !ok {
		t.Fatalf("a %T; want a lease store", store)
	}
	claim, other, bad := claimOf("backup"), claimOf("backup"), claimOf("../x")
	other.Slot = claim.Slot
	results, err := leases.Claim(t.Context(), []pluginapi.Claim{claim, bad, other, claim})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []pluginapi.Verdict{pluginapi.Won, 0, pluginapi.Running, pluginapi.Won} {
		if results[i].Verdict != want {
			t.Errorf("claim %d: %+v; want %s", i, results[i], want)
		}
	}
	if results[1].Err == nil || results[1].Err.Code != pluginapi.Invalid {
		t.Errorf("the wrong claim: %+v; want an error Invalid", results[1])
	}
	beaten, err := leases.Heartbeat(t.Context(), []pluginapi.Heartbeat{{Job: claim.Job, Slot: claim.Slot, Token: claim.Token, Lease: time.Minute}})
	if err != nil || beaten[0].Verdict != pluginapi.Won {
		t.Errorf("Heartbeat: %+v, %v", beaten, err)
	}
	if expired, err := leases.Expired(t.Context(), pluginapi.ExpiredQuery{}); err != nil || len(expired) != 0 {
		t.Errorf("Expired: %+v, %v", expired, err)
	}
	finished, err := leases.Finish(t.Context(), []pluginapi.Finish{{Job: claim.Job, Slot: claim.Slot, Token: claim.Token, Outcome: pluginapi.Succeeded}})
	if err != nil || finished[0].Verdict != pluginapi.Done {
		t.Errorf("Finish: %+v, %v", finished, err)
	}
	if page, err := leases.Runs(t.Context(), pluginapi.RunsQuery{}); err != nil || len(page.Runs) != 1 || page.Runs[0].Outcome != pluginapi.Succeeded {
		t.Errorf("Runs: %+v, %v", page, err)
	}
	if _, err := leases.Health(t.Context()); err != nil {
		t.Errorf("Health: %v", err)
	}
	if err := leases.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
	if _, err := leases.Claim(t.Context(), []pluginapi.Claim{claim}); pluginapi.CodeOf(err) != pluginapi.Unavailable {
		t.Errorf("Claim of a closed store: %v; want Unavailable", err)
	}
}

func TestKindDecidesTheType(t *testing.T) {
	plugin := open(t, self(t, "gate"))
	if store := configure(t, plugin, pluginapi.Config{}); reflect.TypeOf(store).Implements(reflect.TypeFor[pluginapi.LeaseStore]()) {
		t.Errorf("a gate store is a %T, which has leases", store)
	}
	if plugin.Describe().Leases {
		t.Error("a plugin without leases says that it has them")
	}
}

// TestPlainText has a plugin without TLS, as in a language where that is hard.
func TestPlainText(t *testing.T) {
	options := self(t, "good")
	options.PlainText = true
	if err := open(t, options).Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestEmptyBatch(t *testing.T) {
	store := configure(t, open(t, self(t, "good")), pluginapi.Config{})
	if results, err := store.Claim(t.Context(), nil); err != nil || len(results) != 0 {
		t.Errorf("%v, %v", results, err)
	}
}

func TestSettingsProblemsKeepTheirPaths(t *testing.T) {
	plugin := open(t, self(t, "odd"))
	_, err := plugin.Validate(t.Context(), pluginapi.Config{})
	if pluginapi.CodeOf(err) != pluginapi.Invalid || err.Error() != "two problems; address: no such host; users[2]: too short" {
		t.Errorf("Validate: %v", err)
	}
	problems := pluginapi.AsError("", err).Diagnostics
	if len(problems) != 2 || problems[1].Severity != pluginapi.SeverityWarning {
		t.Errorf("%+v", problems)
	}
}

// TestStoreThatMisbehaves has stores with bugs, each in a process that goes on afterwards.
func TestStoreThatMisbehaves(t *testing.T) {
	var log recorder
	options := self(t, "odd")
	options.Log = log.logger()
	plugin := open(t, options)
	store := configure(t, plugin, pluginapi.Config{})
	for job, want := range map[string]pluginapi.Code{
		"panic":        pluginapi.Internal,
		"short":        pluginapi.Internal,
		"full":         pluginapi.Capacity,
		"unclassified": pluginapi.Ambiguous,
	} {
		if _, err := store.Claim(t.Context(), []pluginapi.Claim{claimOf(job)}); err == nil || pluginapi.CodeOf(err) != want {
			t.Errorf("%s: %v; want %s", job, err, want)
		}
	}
	closePlugin(t, plugin, 10*time.Second)
	stack := ""
	for _, record := range log.all() {
		if record.Message == "panic in the store" {
			stack = attr(record, "fields").String()
		}
	}
	if !strings.Contains(stack, "(*odd).Claim") {
		t.Errorf("the log has the stack %q; want the place of the panic in it", stack)
	}
}

// TestForeignPluginThatMisbehaves has what no plugin made with pluginserver would answer.
func TestForeignPluginThatMisbehaves(t *testing.T) {
	plugin := open(t, self(t, "rogue"))
	store := configure(t, plugin, pluginapi.Config{})
	ask := func(job string) ([]pluginapi.ClaimResult, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		return store.Claim(ctx, []pluginapi.Claim{claimOf(job)})
	}
	if _, err := ask("short"); pluginapi.CodeOf(err) != pluginapi.Internal {
		t.Errorf("no results: %v; want Internal", err)
	}
	if results, err := ask("verdict"); err != nil || results[0].Err == nil || results[0].Err.Code != pluginapi.Internal {
		t.Errorf("verdict 99: %v, %v; want an item's error Internal", results, err)
	}
	// Executed, and the answer is too big to be read: it mustn't be taken for a refusal.
	if _, err := ask("huge"); pluginapi.CodeOf(err) != pluginapi.Ambiguous || !strings.Contains(err.Error(), "4194304") {
		t.Errorf("an answer of 5 MiB: %v; want Ambiguous, with the limit", err)
	}
	if _, err := store.Runs(t.Context(), pluginapi.RunsQuery{}); pluginapi.CodeOf(err) != pluginapi.Unsupported {
		t.Errorf("a call that the plugin doesn't have: %v; want Unsupported", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := store.Claim(ctx, []pluginapi.Claim{claimOf("hang")}); pluginapi.CodeOf(err) != pluginapi.Ambiguous {
		t.Errorf("a call that hangs: %v; want Ambiguous", err)
	}
	if err := plugin.Ping(t.Context()); err != nil {
		t.Errorf("Ping afterwards: %v", err)
	}
}

func TestRequestThatIsTooBigIsInvalid(t *testing.T) {
	store, ok := configure(t, open(t, self(t, "good")), pluginapi.Config{}).(pluginapi.LeaseStore)
	if !ok {
		t.Fatal("no lease store")
	}
	_, err := store.Finish(t.Context(), []pluginapi.Finish{{Detail: strings.Repeat("x", 5<<20)}})
	if pluginapi.CodeOf(err) != pluginapi.Invalid {
		t.Errorf("%v; want Invalid: no repeat would help", err)
	}
}

func TestSecretsStayInThePlugin(t *testing.T) {
	var log recorder
	options := self(t, "odd")
	options.Log = log.logger()
	plugin := open(t, options)
	store := configure(t, plugin, pluginapi.Config{Settings: []byte(`{"password":"hunter22"}`)})
	results, err := store.Claim(t.Context(), []pluginapi.Claim{claimOf("secret")})
	if err != nil {
		t.Fatal(err)
	}
	_, leaking := store.Claim(t.Context(), []pluginapi.Claim{claimOf("leaking-error")})
	if leaking == nil {
		t.Fatal("no error")
	}
	closePlugin(t, plugin, 10*time.Second)
	told := []string{results[0].Err.Error(), leaking.Error()}
	for _, record := range log.all() {
		told = append(told, record.Message, attr(record, "fields").String(), attr(record, "text").String())
	}
	if len(told) < 5 || told[2] != "login with (sensitive) failed" {
		t.Errorf("told: %q; want the log line too", told)
	}
	for _, text := range told {
		if strings.Contains(text, "hunter22") {
			t.Errorf("the secret is in %q", text)
		}
	}
}
