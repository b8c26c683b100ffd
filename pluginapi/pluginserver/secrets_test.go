package pluginserver

// White-box: what is redacted depends on the schema in more ways than a process per case
// would be worth.

import (
	"strings"
	"testing"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

func TestSecretsAreRedacted(t *testing.T) {
	inner := pluginapi.Schema{Attributes: []pluginapi.Attribute{{Name: "key", Sensitive: true}}}
	schema := pluginapi.Schema{
		Attributes: []pluginapi.Attribute{
			{Name: "dsn", Sensitive: true},
			{Name: "tokens", Type: pluginapi.ListOfString, Sensitive: true},
			{Name: "headers", Type: pluginapi.MapOfString, Sensitive: true},
			{Name: "pin", Sensitive: true},
			{Name: "user"},
		},
		Blocks: []pluginapi.Block{
			{Name: "tls", Schema: inner},
			{Name: "replica", Nesting: pluginapi.NestList, Schema: inner},
			{Name: "site", Nesting: pluginapi.NestMap, Schema: inner},
		},
	}
	var s secrets
	s.learn(schema, []byte(`{
		"dsn": "postgres://me:p%40ss%2Fword@db/x", "tokens": ["token-one"], "headers": {"a": "header-one"},
		"pin": "12", "user": "somebody",
		"tls": {"key": "tls-key"}, "replica": [{"key": "first-key"}, {"key": "quo\"ted-key"}], "site": {"x": {"key": "site-key"}}
	}`))
	s.learn(schema, []byte(`not JSON`))
	for text, want := range map[string]string{
		"dial postgres://me:p%40ss%2Fword@db/x: refused": "dial (sensitive): refused",
		"password p@ss/word, p%40ss%2Fword":              "password (sensitive), (sensitive)",
		"token-one header-one tls-key":                   "(sensitive) (sensitive) (sensitive)",
		"first-key site-key":                             "(sensitive) (sensitive)",
		`in JSON: "quo\"ted-key"`:                        `in JSON: "(sensitive)"`,
		`plain: quo"ted-key`:                             "plain: (sensitive)",
		"12 times somebody":                              "12 times somebody",
	} {
		if got := s.redact(text); got != want {
			t.Errorf("%q became %q; want %q", text, got, want)
		}
	}
}

func TestManySecretsStayBounded(t *testing.T) {
	var s secrets
	schema := pluginapi.Schema{Attributes: []pluginapi.Attribute{{Name: "password", Sensitive: true}}}
	for i := range 2 * maxSecrets {
		s.learn(schema, []byte(`{"password":"`+strings.Repeat("x", 4+i)+`"}`))
	}
	if len(s.values) > maxSecrets {
		t.Errorf("%d values are kept; at most %d", len(s.values), maxSecrets)
	}
	if got := s.redact(strings.Repeat("x", 4+2*maxSecrets-1)); got != redacted {
		t.Errorf("the newest secret became %.40q", got)
	}
}
