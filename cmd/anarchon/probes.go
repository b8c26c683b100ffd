package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/storeplugin"
)

// statusWatch knows the store's last status: for /readyz, and for the wait at the start.
type statusWatch struct {
	log *slog.Logger

	mu      sync.Mutex // guards what follows
	status  storeplugin.Status
	settled chan struct{} // closed at the first status that is up or quarantined
	done    bool
	stops   bool // the instance is being stopped
}

func newStatusWatch(log *slog.Logger) *statusWatch {
	return &statusWatch{log: log, settled: make(chan struct{})}
}

// changed gets each status of the store's plugin.
func (w *statusWatch) changed(status storeplugin.Status) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if status.State != w.status.State {
		w.log.Debug("store", slog.String("state", string(status.State)), slog.String("reason", status.Reason), slog.Int("pid", status.PID))
	}
	w.status = status
	if !w.done && (status.State.Up() || status.State == storeplugin.Quarantined) {
		w.done = true
		close(w.settled)
	}
}

// await waits until the store answers, or ctx ends. A store that refuses the settings, or that
// no restart can cure, is an error: at the start somebody is there to see it.
func (w *statusWatch) await(ctx context.Context) error {
	select {
	case <-w.settled:
	case <-ctx.Done():
		return nil
	}
	if status := w.last(); status.State == storeplugin.Quarantined {
		return fmt.Errorf("the store can't be used: %s", status.Reason)
	}
	return nil
}

func (w *statusWatch) last() storeplugin.Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.status
}

// stop notes that the instance is being stopped: it isn't ready any more.
func (w *statusWatch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stops = true
}

// ready tells whether the instance claims runs, and what to say about it.
func (w *statusWatch) ready() (string, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stops {
		return "stopping", false
	}
	return "store " + string(w.status.State), w.status.State.Up()
}

// listenLoopback listens on address, which must be a loopback one; "" listens nowhere.
func listenLoopback(ctx context.Context, address string) (net.Listener, error) {
	if address == "" {
		return nil, nil //nolint:nilnil // no listener was asked for
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, invalid(fmt.Errorf("--listen %q: want HOST:PORT, as 127.0.0.1:7070", address))
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, invalid(fmt.Errorf("--listen %q: only loopback addresses are allowed, since nothing here asks who you are", address))
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	return listener, nil
}

// serveProbes answers /livez and /readyz until the returned function is called.
func serveProbes(listener net.Listener, status *statusWatch, log *slog.Logger) (stop func()) {
	if listener == nil {
		return func() {}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		text, ready := status.ready()
		if !ready {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		fmt.Fprintln(w, text)
	})
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10,
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the probes' listener ended", slog.Any("err", err))
		}
	}()
	return func() {
		_ = server.Close()
		<-ended
	}
}
