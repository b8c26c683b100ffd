package pluginclient_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/pluginclient"
)

// waitGone waits for the end of a process that isn't our child.
func waitGone(t *testing.T, pid int) {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 10_000)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n != 1 {
			t.Errorf("process %d is still there after 10 s (%v)", pid, err)
		}
		return
	}
}

func signalTo(t *testing.T, pid int, signal syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, signal); err != nil {
		t.Fatal(err)
	}
}

// ended waits for the end of the plugin, and returns why it ended.
func ended(t *testing.T, plugin *pluginclient.Plugin) string {
	t.Helper()
	select {
	case <-plugin.Done():
		return plugin.Err().Error()
	case <-time.After(10 * time.Second):
		t.Fatal("the plugin is still there after 10 s")
		return ""
	}
}

func TestPluginStopsWhenAsked(t *testing.T) {
	plugin := open(t, self(t, "good"))
	if err := plugin.Err(); err != nil {
		t.Errorf("Err of a running plugin: %v", err)
	}
	closePlugin(t, plugin, 10*time.Second)
	if got := ended(t, plugin); !strings.Contains(got, "exit status 0") {
		t.Errorf("it ended with %q; want exit status 0", got)
	}
	closePlugin(t, plugin, 10*time.Second) // again
}

func TestPluginThatIsKilled(t *testing.T) {
	plugin := open(t, self(t, "odd"))
	store, _, err := plugin.Configure(t.Context(), pluginapi.Config{})
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	go func() {
		_, err := store.Claim(context.Background(), []pluginapi.Claim{claimOf("hang")})
		answered <- err
	}()
	signalTo(t, plugin.PID(), syscall.SIGKILL)
	if got := ended(t, plugin); !strings.Contains(got, "signal: killed") || !strings.Contains(got, strconv.Itoa(plugin.PID())) {
		t.Errorf("it ended with %q; want the signal and the process id", got)
	}
	if err := <-answered; pluginapi.CodeOf(err) != pluginapi.Ambiguous {
		t.Errorf("the call under way: %v; want Ambiguous", err)
	}
	_, err = store.Claim(t.Context(), []pluginapi.Claim{claimOf("a")})
	if pluginapi.CodeOf(err) != pluginapi.Ambiguous || !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("a call afterwards: %v; want Ambiguous, and why it ended", err)
	}
	if err := plugin.Ping(t.Context()); err == nil {
		t.Error("Ping of a plugin that is gone succeeded")
	}
}

// TestSignalsAreLeftToTheHost: a service manager signals anarchon and its plugins together.
func TestSignalsAreLeftToTheHost(t *testing.T) {
	log := &recorder{told: make(chan string, 100)}
	options := self(t, "good")
	options.Log, options.LogLevel = log.logger(), slog.LevelDebug
	plugin := open(t, options)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGPIPE} {
		signalTo(t, plugin.PID(), signal)
		if signal != syscall.SIGPIPE {
			log.await(t, "signal ignored")
		}
	}
	if err := plugin.Ping(t.Context()); err != nil {
		t.Errorf("after the signals: %v", err)
	}
}

func TestTerminalSignalsDoNotReachThePlugin(t *testing.T) {
	plugin := open(t, self(t, "good"))
	if group, err := syscall.Getpgid(plugin.PID()); err != nil || group != plugin.PID() {
		t.Errorf("process group %d, %v; want one of its own", group, err)
	}
}

// TestHostThatIsKilledLeavesNoPlugin, and no directory (dkron#247, spire#93: plugins live on
// for ever).
func TestHostThatIsKilledLeavesNoPlugin(t *testing.T) {
	options := self(t, "host")
	host := exec.Command(options.Path)
	host.Env = append(os.Environ(), append(options.Env, "TEST_RUNTIME_DIR="+options.RuntimeDir)...)
	stdout, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	pid, err := readPID(stdout)
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, stdout)
	_ = host.Wait() // killed
	waitGone(t, pid)
}

// TestFrozenPluginIsClosed (go-plugin's Kill waits for ever).
func TestFrozenPluginIsClosed(t *testing.T) {
	plugin := open(t, self(t, "good"))
	signalTo(t, plugin.PID(), syscall.SIGSTOP)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := plugin.Ping(ctx); pluginapi.CodeOf(err) != pluginapi.Ambiguous {
		t.Errorf("Ping of a frozen plugin: %v", err)
	}
	closePlugin(t, plugin, 200*time.Millisecond)
	if got := ended(t, plugin); !strings.Contains(got, "signal: killed") {
		t.Errorf("it ended with %q", got)
	}
}

func TestPluginThatWillNotStopIsKilled(t *testing.T) {
	plugin := open(t, self(t, "deaf"))
	closePlugin(t, plugin, 200*time.Millisecond)
	if got := ended(t, plugin); !strings.Contains(got, "signal: killed") {
		t.Errorf("it ended with %q", got)
	}
}

// TestChildrenEndWithThePlugin has a child that holds all pipes, on which go-plugin's Kill
// waits for ever (plan B45).
func TestChildrenEndWithThePlugin(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *pluginclient.Plugin){
		"closed": func(t *testing.T, p *pluginclient.Plugin) {
			t.Helper()
			closePlugin(t, p, 10*time.Second)
		},
		"killed": func(t *testing.T, p *pluginclient.Plugin) {
			t.Helper()
			signalTo(t, p.PID(), syscall.SIGKILL)
		},
	} {
		t.Run(name, func(t *testing.T) {
			log := &recorder{told: make(chan string, 100)}
			options := self(t, "orphan maker")
			options.Log = log.logger()
			plugin := open(t, options)
			log.await(t, "plugin wrote text")
			child, err := strconv.Atoi(strings.TrimPrefix(log.texts()[0], "child "))
			if err != nil {
				t.Fatal(err)
			}
			end(t, plugin)
			ended(t, plugin)
			waitGone(t, child)
		})
	}
}

// TestCallsUnderWayAreAnsweredBeforeTheEnd: the stop doesn't cut off what has begun.
func TestCallsUnderWayAreAnsweredBeforeTheEnd(t *testing.T) {
	log := &recorder{told: make(chan string, 100)}
	options := self(t, "odd")
	options.Log = log.logger()
	plugin := open(t, options)
	store, _, err := plugin.Configure(t.Context(), pluginapi.Config{})
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	go func() {
		results, err := store.Claim(context.Background(), []pluginapi.Claim{claimOf("slow")})
		if err == nil && results[0].Verdict != pluginapi.Lost {
			err = results[0].Err
		}
		answered <- err
	}()
	log.await(t, "slow claim has begun")
	closePlugin(t, plugin, 10*time.Second)
	if err := <-answered; err != nil {
		t.Errorf("the call under way: %v", err)
	}
	if got := ended(t, plugin); !strings.Contains(got, "exit status 0") {
		t.Errorf("it ended with %q", got)
	}
	if _, err := store.Claim(t.Context(), []pluginapi.Claim{claimOf("a")}); pluginapi.CodeOf(err) != pluginapi.Unavailable {
		t.Errorf("a call after Close: %v; want Unavailable", err)
	}
}

func TestSocketDirectoryIsPrivate(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	options := self(t, "good")
	open(t, options)
	dirs, err := filepath.Glob(options.RuntimeDir + "/*")
	if err != nil || len(dirs) != 1 {
		t.Fatalf("in the runtime directory: %v, %v", dirs, err)
	}
	if info, err := os.Stat(dirs[0]); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v; want 0700", info.Mode(), err)
	}
}

func TestStartsLeakNoFiles(t *testing.T) {
	count := func() int {
		files, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("no /proc to count open files in")
		}
		return len(files)
	}
	once := func(mode string) {
		if plugin, err := pluginclient.Open(t.Context(), self(t, mode)); err == nil {
			closePlugin(t, plugin, 10*time.Second)
		}
	}
	once("good") // what is opened once stays open: the poller's descriptors
	before := count()
	for range 3 {
		once("good")
		once("exit 7")
		once("tcp")
	}
	if after := count(); after != before {
		t.Errorf("%d open files before, %d after", before, after)
	}
}
