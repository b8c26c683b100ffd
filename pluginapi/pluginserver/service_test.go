package pluginserver

// White-box: what a process that pluginclient starts can't show, since the client never asks
// for it.

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/pluginpb"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/wire"
	"github.com/anarchon-scheduler/anarchon/pluginapi/memstore"
)

// connect serves the store in this process.
func connect(t *testing.T, store pluginapi.Store) (*service, *grpc.ClientConn) {
	t.Helper()
	served := newService(Options{Name: "test", New: func(*slog.Logger) pluginapi.Store { return store }},
		slog.New(slog.DiscardHandler), &slog.LevelVar{}, &secrets{})
	server := served.newServer(nil)
	if err := (&grpcPlugin{served: served}).GRPCServer(nil, server); err != nil {
		t.Fatal(err)
	}
	listener := bufconn.Listen(1 << 16)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	conn, err := grpc.NewClient("passthrough:test", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close() // some tests have closed it
		server.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return served, conn
}

func configure(t *testing.T, conn *grpc.ClientConn, id string) error {
	t.Helper()
	_, err := pluginpb.NewPluginClient(conn).Configure(t.Context(), &pluginpb.ConfigureRequest{StoreId: id})
	return err
}

func expect(t *testing.T, what string, err error, want pluginapi.Code) {
	t.Helper()
	if err == nil || wire.FromStatus("", err).Code != want {
		t.Errorf("%s: %v; want %s", what, err, want)
	}
}

func TestStoreWithoutLeases(t *testing.T) {
	_, conn := connect(t, memstore.New(memstore.Options{}).Gate())
	if err := configure(t, conn, "1"); err != nil {
		t.Fatal(err)
	}
	client := pluginpb.NewStoreClient(conn)
	_, err := client.Heartbeat(t.Context(), &pluginpb.HeartbeatRequest{StoreId: "1"})
	expect(t, "Heartbeat", err, pluginapi.Unsupported)
	_, err = client.Finish(t.Context(), &pluginpb.FinishRequest{StoreId: "1"})
	expect(t, "Finish", err, pluginapi.Unsupported)
	_, err = client.Expired(t.Context(), &pluginpb.ExpiredRequest{StoreId: "1"})
	expect(t, "Expired", err, pluginapi.Unsupported)
}

func TestOneStoreAProcess(t *testing.T) {
	_, conn := connect(t, memstore.New(memstore.Options{}))
	client := pluginpb.NewStoreClient(conn)
	_, err := client.Claim(t.Context(), &pluginpb.ClaimRequest{StoreId: "1"})
	expect(t, "Claim before Configure", err, pluginapi.Unavailable)
	expect(t, "Configure without an id", configure(t, conn, ""), pluginapi.Invalid)
	expect(t, "Configure with a long id", configure(t, conn, strings.Repeat("x", 65)), pluginapi.Invalid)
	for range 2 {
		if err := configure(t, conn, "1"); err != nil {
			t.Fatal(err)
		}
	}
	expect(t, "Configure of a second store", configure(t, conn, "2"), pluginapi.Unsupported)
	for _, id := range []string{"", "2"} {
		_, err = client.Claim(t.Context(), &pluginpb.ClaimRequest{StoreId: id})
		expect(t, "Claim of store "+id, err, pluginapi.Unsupported)
	}
}

// liar says that it keeps leases, and has no Heartbeat.
type liar struct{ pluginapi.Store }

func (liar) Configure(context.Context, pluginapi.Config) (pluginapi.Info, error) {
	return pluginapi.Info{Kind: pluginapi.Lease}, nil
}

func TestStoreThatLiesAboutLeases(t *testing.T) {
	_, conn := connect(t, liar{memstore.New(memstore.Options{}).Gate()})
	expect(t, "Configure", configure(t, conn, "1"), pluginapi.Internal)
}

// closer tells when it is closed.
type closer struct {
	pluginapi.LeaseStore
	closed chan struct{}
}

func (c *closer) Close(context.Context) error {
	close(c.closed) // a second time panics
	return errors.New("the disk is full")
}

func TestEndOfTheLifelineStops(t *testing.T) {
	store := &closer{LeaseStore: memstore.New(memstore.Options{}), closed: make(chan struct{})}
	served, conn := connect(t, store)
	if err := configure(t, conn, "1"); err != nil {
		t.Fatal(err)
	}
	plugin, lifeline := io.Pipe()
	stopped := make(chan struct{})
	go func() {
		served.stopAfter(plugin)
		close(stopped)
	}()
	if err := lifeline.Close(); err != nil {
		t.Fatal(err)
	}
	<-store.closed
	_, err := pluginpb.NewStoreClient(conn).Claim(t.Context(), &pluginpb.ClaimRequest{StoreId: "1"})
	expect(t, "Claim while stopping", err, pluginapi.Unavailable)
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	select {
	case <-stopped:
	case <-time.After(stopTime + 10*time.Second):
		t.Error("the plugin doesn't stop")
	}
	served.closeStore() // once is enough
}
