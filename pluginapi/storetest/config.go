package storetest

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"sync"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

func configChecks() []Check {
	return []Check{
		{"C01", "Config/settings_work", "The target's settings configure a store that says what it is.", alone, settingsWork},
		{"C02", "Config/schema_is_well_formed", "The schema's names, types and defaults are what the contract allows.", alone, schemaWellFormed},
		{"C03", "Config/unknown_setting_is_refused", "A setting that the schema doesn't know is Invalid.", alone, unknownSetting},
		{"C04", "Config/bad_settings_point_at_the_attribute", "Wrong settings are Invalid, in Validate and Configure, with the attribute's path.", alone, badSettings},
		{"C05", "Config/validate_has_no_effect", "Validate changes nothing for anybody.", anyStore, validateHasNoEffect},
		{"C06", "Config/configure_again", "Configuring again with the same settings changes nothing.", anyStore, configureAgain},
		{"C07", "Config/configure_together", "Eight instances can configure the same backend at the same time.", anyStore, configureTogether},
		{"C08", "Config/close", "Close may come twice, and without Configure; calls after it are Unavailable.", anyStore, closeTwice},
	}
}

func settingsWork(ctx context.Context, t *trial) {
	c, err := t.fresh(ctx)
	if err != nil {
		t.fatalf("a client: %v", err)
	}
	defer func() { t.closed(ctx, c.end) }()
	promised, err := c.validate(ctx, t.config())
	if err != nil {
		t.fatalf("validate: %v", err)
	}
	store, info, err := c.configure(ctx, t.config())
	t.heard.note(info, err)
	if err != nil {
		t.fatalf("configure: %v", err)
	}
	if info.Kind != pluginapi.Gate && info.Kind != pluginapi.Lease {
		t.errorf("kind: got %d, want gate or lease", info.Kind)
	}
	if _, ok := store.(pluginapi.LeaseStore); !ok && info.Kind == pluginapi.Lease {
		t.errorf("the store claims kind lease and isn't a LeaseStore")
	}
	if m, l := info.Memory, info.Limits; m.Window < 0 || m.MaxRuns < 0 || l.MaxBatch < 0 || l.MaxInFlight < 0 {
		t.errorf("memory and limits: got %+v and %+v, want values of 0 or more", m, l)
	}
	if info.Guarantee == "" {
		t.errorf("guarantee: got nothing, want a sentence about what these settings guarantee")
	}
	promised.Warnings, info.Warnings = nil, nil // some only the backend can tell
	if !reflect.DeepEqual(promised, info) {
		t.errorf("validate said %+v, configure %+v; want the same", promised, info)
	}
}

func schemaWellFormed(ctx context.Context, t *trial) {
	c, err := t.fresh(ctx) // a binary's schema is known once it runs
	if err != nil {
		t.fatalf("a client: %v", err)
	}
	defer func() { t.closed(ctx, c.end) }()
	if err := t.description.schema.Check(); err != nil {
		t.errorf("schema: %v", err)
	}
	var settings map[string]json.RawMessage
	if err := pluginapi.DecodeSettings(t.config(), &settings); err != nil {
		t.fatalf("the target's settings: %v", err)
	}
	for name := range settings {
		if !resolves(t.description.schema, pluginapi.Attr(name)) {
			t.errorf("setting %q works and the schema doesn't have it", name)
		}
	}
}

func unknownSetting(ctx context.Context, t *trial) {
	var settings map[string]json.RawMessage
	if err := pluginapi.DecodeSettings(t.config(), &settings); err != nil {
		t.fatalf("the target's settings: %v", err)
	}
	if settings == nil {
		settings = map[string]json.RawMessage{}
	}
	settings["no_such_setting"] = json.RawMessage(`true`)
	text, err := json.Marshal(settings)
	if err != nil {
		t.fatalf("encode settings: %v", err)
	}
	t.refused(ctx, BadSettings{Name: "a setting nobody knows", Settings: text})
}

func badSettings(ctx context.Context, t *trial) {
	if len(t.target.Bad) == 0 {
		t.skipf("needs Target.Bad")
	}
	for _, bad := range t.target.Bad {
		t.refused(ctx, bad)
	}
}

// refused reports settings that Validate or Configure takes, or refuses without saying where.
func (t *trial) refused(ctx context.Context, bad BadSettings) {
	c, err := t.fresh(ctx)
	if err != nil {
		t.fatalf("a client: %v", err)
	}
	defer func() { t.closed(ctx, c.end) }()
	config := pluginapi.Config{Settings: bad.Settings, Instance: "suite"}
	_, validateErr := c.validate(ctx, config)
	_, _, configureErr := c.configure(ctx, config)
	for call, err := range map[string]error{"validate": validateErr, "configure": configureErr} {
		t.heard.note(call, err)
		if err == nil || pluginapi.CodeOf(err) != pluginapi.Invalid {
			t.errorf("%s, %s: got %v, want an invalid error", call, bad.Name, err)
			continue
		}
		found := len(bad.Path) == 0
		for _, d := range pluginapi.AsError(call, err).Diagnostics {
			found = found || slices.Equal(d.Path, bad.Path)
			if bad.Path != nil && !resolves(t.description.schema, d.Path) {
				t.errorf("%s, %s: the path of %q isn't in the schema", call, bad.Name, d)
			}
		}
		if !found {
			t.errorf("%s, %s: got %v, want a diagnostic at %v", call, bad.Name, err, bad.Path)
		}
	}
}

// resolves tells whether a path leads to an attribute or a block of the schema.
func resolves(schema pluginapi.Schema, path []pluginapi.Step) bool {
	if len(path) == 0 {
		return true
	}
	name := path[0].Name
	if slices.ContainsFunc(schema.Attributes, func(a pluginapi.Attribute) bool { return a.Name == name }) {
		return true // what follows is an element of it
	}
	for _, b := range schema.Blocks {
		switch {
		case b.Name != name:
		case b.Nesting != pluginapi.NestSingle && len(path) > 1: // the next step is an index or a label
			return resolves(b.Schema, path[2:])
		default:
			return resolves(b.Schema, path[1:])
		}
	}
	return false
}

func validateHasNoEffect(ctx context.Context, t *trial) {
	a, b := t.pair()
	c := t.claim(t.job(""))
	t.claimOne(ctx, a, c, pluginapi.Won, "first claim")
	configs := []pluginapi.Config{t.config(), {Settings: json.RawMessage(`{"no_such_setting": 1}`)}, {Settings: json.RawMessage(`[`)}}
	for _, config := range configs {
		for _, s := range []pluginapi.Store{a, b} {
			info, err := s.Validate(ctx, config)
			t.heard.note(info, err)
			t.claimOne(ctx, s, t.rival(c), t.taken(), "another token after Validate")
			t.claimOne(ctx, s, c, pluginapi.Won, "the same token after Validate")
		}
	}
}

func configureAgain(ctx context.Context, t *trial) {
	own := t.another(ctx)
	c := t.claim(t.job(""))
	t.claimOne(ctx, own, c, pluginapi.Won, "first claim")
	info, err := own.Configure(ctx, t.config())
	t.heard.note(info, err)
	if err != nil {
		t.fatalf("configure again: %v", err)
	}
	if info.Kind != t.info.Kind {
		t.errorf("kind: got %s, want %s as before", info.Kind, t.info.Kind)
	}
	t.claimOne(ctx, own, t.rival(c), t.taken(), "another token after Configure")
	t.claimOne(ctx, own, c, pluginapi.Won, "the same token after Configure")
}

func configureTogether(ctx context.Context, t *trial) {
	clients := make([]*client, 8)
	var opening sync.WaitGroup
	for i := range clients {
		opening.Go(func() {
			var err error
			if clients[i], err = t.open(ctx); err != nil {
				t.errorf("client %d: %v", i, err)
			}
		})
	}
	opening.Wait()
	clients = slices.DeleteFunc(clients, func(c *client) bool { return c == nil })
	c := t.claim(t.job(""))
	for i, each := range clients {
		want := pluginapi.Won
		if i > 0 {
			want = t.taken()
		}
		t.claimOne(ctx, each, t.rival(c), want, "the next client's claim")
	}
	for _, each := range clients {
		t.closed(ctx, each.end)
	}
}

func closeTwice(ctx context.Context, t *trial) {
	if t.target.Binary != "" {
		t.skipf("closing a binary's client ends its process: see F05")
	}
	never := t.target.New(t.log)
	t.closed(ctx, never.Close)
	own := t.another(ctx)
	t.closed(ctx, own.Close)
	t.closed(ctx, own.Close)
	if _, err := own.Claim(ctx, []pluginapi.Claim{t.claim(t.job(""))}); err == nil || pluginapi.CodeOf(err) != pluginapi.Unavailable {
		t.errorf("claim after Close: got %v, want an unavailable error", err)
	}
}

// closed reports a close that fails.
func (t *trial) closed(ctx context.Context, end func(context.Context) error) {
	if err := end(ctx); err != nil {
		t.errorf("close: %v", err)
	}
}
