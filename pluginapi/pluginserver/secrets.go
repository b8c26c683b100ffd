package pluginserver

import (
	"bytes"
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

const (
	// minSecret is the length below which a value is no secret: replacing every "a" in a
	// text would only make it unreadable.
	minSecret = 4
	// maxSecrets bounds how many values are known: those of the last configurations.
	maxSecrets = 256
	redacted   = "(sensitive)"
)

// secrets knows the values of the sensitive settings and takes them out of texts.
type secrets struct {
	mu     sync.RWMutex
	values []string // guarded by mu; the oldest first
	search []string // guarded by mu; values, the longest first, as one may be part of another
}

// learn adds the sensitive values of settings.
func (s *secrets) learn(schema pluginapi.Schema, settings json.RawMessage) {
	var found []string
	collect(schema, settings, &found)
	if len(found) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, value := range found {
		if len(value) >= minSecret && !slices.Contains(s.values, value) {
			s.values = append(s.values, value)
		}
	}
	s.values = s.values[max(0, len(s.values)-maxSecrets):]
	s.search = slices.Clone(s.values)
	slices.SortFunc(s.search, func(a, b string) int { return len(b) - len(a) })
}

// collect walks settings along schema. What doesn't fit the schema is skipped: the store
// will refuse it.
func collect(schema pluginapi.Schema, settings json.RawMessage, found *[]string) {
	var object map[string]json.RawMessage
	if json.Unmarshal(settings, &object) != nil {
		return
	}
	for _, a := range schema.Attributes {
		if a.Sensitive {
			addStrings(object[a.Name], found)
		}
	}
	for _, b := range schema.Blocks {
		value := object[b.Name]
		switch b.Nesting {
		case pluginapi.NestList:
			var items []json.RawMessage
			_ = json.Unmarshal(value, &items) // see above
			for _, item := range items {
				collect(b.Schema, item, found)
			}
		case pluginapi.NestMap:
			var items map[string]json.RawMessage
			_ = json.Unmarshal(value, &items) // see above
			for _, item := range items {
				collect(b.Schema, item, found)
			}
		case pluginapi.NestSingle:
			collect(b.Schema, value, found)
		}
	}
}

// addStrings adds every string in a value: a string, a list or a map of them. An address
// also adds its password alone, since a library may mention only that.
func addStrings(value json.RawMessage, found *[]string) {
	var one string
	var list []json.RawMessage
	var object map[string]json.RawMessage
	switch {
	case json.Unmarshal(value, &one) == nil:
		*found = append(*found, one, quoted(one))
		if u, err := url.Parse(one); err == nil {
			if password, ok := u.User.Password(); ok {
				*found = append(*found, password, quoted(password), url.QueryEscape(password), url.PathEscape(password))
			}
		}
	case json.Unmarshal(value, &list) == nil:
		for _, item := range list {
			addStrings(item, found)
		}
	case json.Unmarshal(value, &object) == nil:
		for _, item := range object {
			addStrings(item, found)
		}
	}
}

// quoted returns s as it stands within a JSON string, which is how log lines have it.
func quoted(s string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // as slog's JSON handler
	if encoder.Encode(s) != nil {
		return s
	}
	return strings.Trim(strings.TrimSpace(b.String()), `"`)
}

// redact returns text without secrets.
func (s *secrets) redact(text string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, value := range s.search {
		text = strings.ReplaceAll(text, value, redacted)
	}
	return text
}

// clean returns the error without secrets and without its cause; nil for nil.
func (s *secrets) clean(e *pluginapi.Error) *pluginapi.Error {
	if e == nil {
		return nil
	}
	msg := e.Msg
	if msg == "" && e.Err != nil {
		msg = e.Err.Error()
	}
	return &pluginapi.Error{
		Code:        e.Code,
		Op:          e.Op,
		Msg:         s.redact(msg),
		Diagnostics: s.cleanDiagnostics(e.Diagnostics),
	}
}

func (s *secrets) cleanDiagnostics(in []pluginapi.Diagnostic) []pluginapi.Diagnostic {
	out := slices.Clone(in)
	for i := range out {
		out[i].Summary, out[i].Detail = s.redact(out[i].Summary), s.redact(out[i].Detail)
	}
	return out
}

func (s *secrets) cleanInfo(info pluginapi.Info) pluginapi.Info {
	info.Strategy, info.Guarantee = s.redact(info.Strategy), s.redact(info.Guarantee)
	info.Warnings = s.cleanDiagnostics(info.Warnings)
	return info
}

// writer returns a writer that takes secrets out of each write. Loggers write whole lines.
func (s *secrets) writer(w io.Writer) io.Writer { return &redactor{secrets: s, w: w} }

type redactor struct {
	secrets *secrets
	w       io.Writer
}

// Write implements io.Writer.
func (r *redactor) Write(p []byte) (int, error) {
	if _, err := io.WriteString(r.w, r.secrets.redact(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
