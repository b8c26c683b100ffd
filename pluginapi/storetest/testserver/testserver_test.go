package testserver_test

import (
	"context"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/anarchon-scheduler/anarchon/pluginapi/storetest/testserver"
)

// addressEnv makes this binary an echo server at that address instead of running the tests.
const addressEnv = "ANARCHON_TEST_ECHO"

func TestMain(m *testing.M) {
	if address := os.Getenv(addressEnv); address != "" {
		echo(address)
		return
	}
	goleak.VerifyTestMain(m)
}

// echo answers each connection with what it sends, for ever.
func echo(address string) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		panic(err)
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			panic(err)
		}
		go func() { _, _ = io.Copy(conn, conn) }()
	}
}

// start starts an echo server and returns its address.
func start(t *testing.T) (*testserver.Server, string) {
	t.Helper()
	address := "127.0.0.1:" + strconv.Itoa(testserver.Port(t))
	return testserver.Start(t, testserver.Spec{
		Command: []string{os.Args[0]}, Env: []string{addressEnv + "=" + address},
		Ready: func(ctx context.Context) error {
			conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
			if err == nil {
				_ = conn.Close()
			}
			return err
		},
	}), address
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// ask sends a text and returns what came back until it was complete or the connection closed.
func ask(t *testing.T, conn net.Conn, text string) string {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		return ""
	}
	answer := make([]byte, len(text))
	n, err := io.ReadFull(conn, answer)
	if os.IsTimeout(err) {
		t.Fatal("no answer in 20 s")
	}
	return string(answer[:n])
}

func TestServer_kill_and_restart(t *testing.T) {
	server, address := start(t)
	old := server.PID()
	server.Kill()
	if conn, err := net.Dial("tcp", address); err == nil {
		_ = conn.Close()
		t.Error("a killed server accepts a connection")
	}
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	if server.PID() == old {
		t.Error("the restarted server has the pid of the killed one")
	}
	if got := ask(t, dial(t, address), "hello"); got != "hello" {
		t.Errorf("the restarted server answers %q, want hello", got)
	}
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
}

func TestLaunch_names_what_is_wrong(t *testing.T) {
	for name, c := range map[string]struct {
		spec testserver.Spec
		want string
	}{
		"no program": {testserver.Spec{Command: []string{"/nonexistent/server"}}, "no such file"},
		"ends at once": {testserver.Spec{
			Command: []string{"sh", "-c", "echo cannot bind; exit 3"},
			Ready:   func(context.Context) error { return io.EOF },
		}, "cannot bind"},
		"is never ready": {testserver.Spec{
			Command: []string{"sleep", "100"}, Within: 50 * time.Millisecond,
			Ready: func(context.Context) error { return io.ErrUnexpectedEOF },
		}, "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := testserver.Launch(c.spec)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestProxy_loses_replies_not_requests(t *testing.T) {
	_, address := start(t)
	proxy := testserver.NewProxy(t, address)
	conn := dial(t, proxy.Addr())
	if got := ask(t, conn, "one"); got != "one" {
		t.Fatalf("got %q, want one", got)
	}
	proxy.LoseReply(2)
	if got := ask(t, conn, "two"); got != "tw" {
		t.Errorf("got %q, want tw", got)
	}
	if got := proxy.Cuts(); got != 1 {
		t.Errorf("%d connections were cut, want 1", got)
	}
	if got := ask(t, dial(t, proxy.Addr()), "three"); got != "three" { // once for each call
		t.Errorf("got %q, want three", got)
	}
}

func TestProxy_cuts_refuses_stalls(t *testing.T) {
	_, address := start(t)
	proxy := testserver.NewProxy(t, address)
	conn := dial(t, proxy.Addr())
	if got := ask(t, conn, "one"); got != "one" {
		t.Fatalf("got %q, want one", got)
	}
	proxy.Stall()
	answered := make(chan string, 1)
	go func() { answered <- ask(t, conn, "two") }()
	select {
	case got := <-answered:
		t.Errorf("a stalled proxy passed %q", got)
	case <-time.After(50 * time.Millisecond):
	}
	proxy.Flow()
	if got := <-answered; got != "two" {
		t.Errorf("got %q, want two", got)
	}
	proxy.Refuse(true)
	if got := ask(t, dial(t, proxy.Addr()), "three"); got != "" {
		t.Errorf("a refused connection answers %q", got)
	}
	proxy.Refuse(false)
	proxy.Cut()
	if got := ask(t, conn, "four"); got != "" {
		t.Errorf("a cut connection answers %q", got)
	}
	proxy.Retarget("127.0.0.1:1")
	if got := ask(t, dial(t, proxy.Addr()), "five"); got != "" {
		t.Errorf("a connection to nowhere answers %q", got)
	}
}
