package storeplugin_test

import (
	"context"
	"log/slog"
	"net"
	"net/rpc"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/memstore"
	"github.com/anarchon-scheduler/anarchon/pluginapi/pluginserver"
)

// The test program is also the plugin: started as one, it serves a store that passes all
// calls on to a backend in the test's process. So a plugin can be killed at any instant and
// the backend, as a database would, stays.
func TestMain(m *testing.M) {
	if os.Getenv("ANARCHON_PLUGIN") != "" {
		os.Exit(pluginserver.Serve(pluginserver.Options{
			Name:    "test",
			Version: "1.0.0",
			Schema: pluginapi.Schema{Attributes: []pluginapi.Attribute{
				{Name: "socket", Type: pluginapi.String, Description: "The backend's socket."},
				{Name: "mode", Type: pluginapi.String, Description: "How to misbehave."},
			}},
			New: func(*slog.Logger) pluginapi.Store { return &remote{} },
		}))
	}
	goleak.VerifyTestMain(m)
}

// backend is a memstore behind a socket.
type backend struct {
	store  *memstore.Store
	socket string
	ill    atomic.Bool // Health fails
	claims atomic.Int64
}

func newBackend(t *testing.T) *backend {
	t.Helper()
	return &backend{store: memstore.New(memstore.Options{History: 1 << 20}), socket: filepath.Join(t.TempDir(), "s")}
}

// start makes the backend reachable.
func (b *backend) start(t *testing.T) *backend {
	t.Helper()
	server := rpc.NewServer()
	if err := server.RegisterName("Backend", &service{b}); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", b.socket)
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // closed
			}
			end := context.AfterFunc(t.Context(), func() { _ = conn.Close() })
			serving.Go(func() {
				defer end()
				server.ServeConn(conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		serving.Wait()
	})
	return b
}

// service is what the plugin calls.
type service struct{ b *backend }

func (s *service) Claim(claims []pluginapi.Claim, results *[]pluginapi.ClaimResult) (err error) {
	s.b.claims.Add(int64(len(claims)))
	*results, err = s.b.store.Claim(context.Background(), claims)
	return err
}

func (s *service) Heartbeat(heartbeats []pluginapi.Heartbeat, results *[]pluginapi.HeartbeatResult) (err error) {
	*results, err = s.b.store.Heartbeat(context.Background(), heartbeats)
	return err
}

func (s *service) Finish(finishes []pluginapi.Finish, results *[]pluginapi.FinishResult) (err error) {
	*results, err = s.b.store.Finish(context.Background(), finishes)
	return err
}

func (s *service) Expired(query pluginapi.ExpiredQuery, refs *[]pluginapi.RunRef) (err error) {
	*refs, err = s.b.store.Expired(context.Background(), query)
	return err
}

func (s *service) Runs(query pluginapi.RunsQuery, page *pluginapi.RunsPage) (err error) {
	*page, err = s.b.store.Runs(context.Background(), query)
	return err
}

func (s *service) Health(_ int, health *pluginapi.Health) (err error) {
	if s.b.ill.Load() {
		return pluginapi.Errorf(pluginapi.Unavailable, "health", "the backend is ill")
	}
	*health, err = s.b.store.Health(context.Background())
	return err
}

// remote is the plugin's side.
type remote struct {
	client   *rpc.Client
	settings struct{ Socket, Mode string }
}

var _ pluginapi.LeaseStore = (*remote)(nil)

func (r *remote) Validate(_ context.Context, config pluginapi.Config) (pluginapi.Info, error) {
	if err := pluginapi.DecodeSettings(config, &r.settings); err != nil {
		return pluginapi.Info{}, err
	}
	if r.settings.Socket == "" {
		return pluginapi.Info{}, &pluginapi.Error{Code: pluginapi.Invalid, Op: "validate", Diagnostics: []pluginapi.Diagnostic{
			{Summary: "no socket", Path: pluginapi.Attr("socket")},
		}}
	}
	return pluginapi.Info{Kind: pluginapi.Lease, HasHistory: true, Guarantee: "for tests"}, nil
}

func (r *remote) Configure(ctx context.Context, config pluginapi.Config) (pluginapi.Info, error) {
	info, err := r.Validate(ctx, config)
	if err != nil {
		return info, err
	}
	if r.settings.Mode == "unfit_backend" {
		return info, pluginapi.Errorf(pluginapi.Unsupported, "configure", "the backend is too old")
	}
	conn, err := net.Dial("unix", r.settings.Socket)
	if err != nil {
		return info, pluginapi.Errorf(pluginapi.Unavailable, "configure", "%w", err)
	}
	r.client = rpc.NewClient(conn)
	return info, nil
}

func (r *remote) Claim(_ context.Context, claims []pluginapi.Claim) (results []pluginapi.ClaimResult, err error) {
	if r.settings.Mode == "two_winners" {
		for range claims {
			results = append(results, pluginapi.ClaimResult{Verdict: pluginapi.Won, Attempt: 1, LeaseLeft: 1e9})
		}
		return results, nil
	}
	err = r.client.Call("Backend.Claim", claims, &results)
	return results, err
}

func (r *remote) Heartbeat(_ context.Context, heartbeats []pluginapi.Heartbeat) (results []pluginapi.HeartbeatResult, err error) {
	err = r.client.Call("Backend.Heartbeat", heartbeats, &results)
	return results, err
}

func (r *remote) Finish(_ context.Context, finishes []pluginapi.Finish) (results []pluginapi.FinishResult, err error) {
	err = r.client.Call("Backend.Finish", finishes, &results)
	return results, err
}

func (r *remote) Expired(_ context.Context, query pluginapi.ExpiredQuery) (refs []pluginapi.RunRef, err error) {
	err = r.client.Call("Backend.Expired", query, &refs)
	return refs, err
}

func (r *remote) Runs(_ context.Context, query pluginapi.RunsQuery) (page pluginapi.RunsPage, err error) {
	err = r.client.Call("Backend.Runs", query, &page)
	return page, err
}

func (r *remote) Health(context.Context) (health pluginapi.Health, err error) {
	err = r.client.Call("Backend.Health", 0, &health)
	return health, err
}

func (r *remote) Close(context.Context) error {
	if r.client == nil {
		return nil
	}
	return r.client.Close()
}
