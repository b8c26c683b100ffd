package storetest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"strings"
	"sync"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/pluginclient"
)

// session is one execution's view of the target: the clients that its checks share.
type session struct {
	target Target
	nonce  string // makes the names of jobs unique on a backend that is used again and again
	mark   string // begins every token
	heard  *transcript
	log    *slog.Logger // what stores in this process log to

	described   sync.Once      // guards the writing of description by the first process
	description description    // of a binary; else only the schema
	info        pluginapi.Info // what the first client claims
	shared      []*client      // configured; closed at the end
}

// client is one configured client of the store.
type client struct {
	pluginapi.Store
	process *pluginclient.Plugin            // nil in process
	end     func(ctx context.Context) error // closes the client and whatever carries it
}

// description is what is known of the target without settings.
type description struct {
	name, version string
	schema        pluginapi.Schema
}

func newSession(target Target) *session {
	heard := &transcript{}
	return &session{
		target:      target,
		nonce:       strings.ToLower(rand.Text()[:10]),
		mark:        "mark" + rand.Text()[:12] + "-",
		heard:       heard,
		log:         slog.New(slog.NewJSONHandler(heard, &slog.HandlerOptions{Level: slog.LevelDebug})),
		description: description{schema: target.Schema},
	}
}

// config returns the target's working settings.
func (s *session) config() pluginapi.Config {
	return pluginapi.Config{Settings: s.target.Settings, Instance: "suite"}
}

// open returns a new configured client.
func (s *session) open(ctx context.Context) (*client, error) {
	if s.target.Binary != "" {
		return s.openBinary(ctx)
	}
	return s.configure(ctx, s.target.New(s.log))
}

// configure makes a client of a store in this process.
func (s *session) configure(ctx context.Context, store pluginapi.Store) (*client, error) {
	info, err := store.Configure(ctx, s.config())
	s.heard.note(info, err)
	if err != nil {
		return nil, errors.Join(err, store.Close(ctx))
	}
	return &client{Store: s.listen(store, info), end: store.Close}, nil
}

// start opens the clients that checks share: two instances.
func (s *session) start(ctx context.Context) error {
	for range 2 {
		c, err := s.open(ctx)
		if err != nil {
			return err
		}
		s.shared = append(s.shared, c)
	}
	info, err := s.validate(ctx, s.config())
	s.info = info
	return err
}

// stop closes the shared clients.
func (s *session) stop(ctx context.Context) error {
	var errs []error
	for _, c := range s.shared {
		errs = append(errs, c.end(ctx))
	}
	return errors.Join(errs...)
}

// validate asks a client that isn't configured what it thinks of settings.
func (s *session) validate(ctx context.Context, config pluginapi.Config) (pluginapi.Info, error) {
	fresh, err := s.fresh(ctx)
	if err != nil {
		return pluginapi.Info{}, err
	}
	info, err := fresh.validate(ctx, config)
	s.heard.note(info, err)
	return info, errors.Join(err, fresh.end(ctx))
}

// fresh is a client before Configure.
type fresh struct {
	validate  func(ctx context.Context, config pluginapi.Config) (pluginapi.Info, error)
	configure func(ctx context.Context, config pluginapi.Config) (pluginapi.Store, pluginapi.Info, error)
	end       func(ctx context.Context) error
}

// fresh returns a client that isn't configured.
func (s *session) fresh(ctx context.Context) (fresh, error) {
	if s.target.Binary != "" {
		return s.freshBinary(ctx)
	}
	store := s.target.New(s.log)
	return fresh{
		validate: store.Validate,
		configure: func(ctx context.Context, config pluginapi.Config) (pluginapi.Store, pluginapi.Info, error) {
			info, err := store.Configure(ctx, config)
			return store, info, err
		},
		end: store.Close,
	}, nil
}

// transcript is everything that the store said where people could read it: log lines, errors,
// and the texts of its answers.
type transcript struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

// Write takes the log.
func (tr *transcript) Write(p []byte) (int, error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.text.Write(p)
}

// contains tells whether the text was shown anywhere.
func (tr *transcript) contains(text string) bool {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return bytes.Contains(tr.text.Bytes(), []byte(text))
}

// around returns the lines that show the text, with the text itself blotted out.
func (tr *transcript) around(text string) string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for line := range strings.Lines(tr.text.String()) {
		if before, after, found := strings.Cut(line, text); found {
			return before + "[SHOWN]" + after[:min(len(after), 80)]
		}
	}
	return ""
}
