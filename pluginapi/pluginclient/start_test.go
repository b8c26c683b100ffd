package pluginclient_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi/pluginclient"
)

// refused opens a plugin that can't be started, and returns why.
func refused(t *testing.T, options pluginclient.Options) *pluginclient.StartError {
	t.Helper()
	plugin, err := pluginclient.Open(t.Context(), options)
	if err == nil {
		closePlugin(t, plugin, 10*time.Second)
		t.Fatal("Open succeeded")
	}
	failed, ok := errors.AsType[*pluginclient.StartError](err)
	if !ok {
		t.Fatalf("a %T: %v; want a StartError", err, err)
	}
	if failed.Path != options.Path || !strings.Contains(err.Error(), options.Path) {
		t.Errorf("%v doesn't name the path %s", err, options.Path)
	}
	return failed
}

func file(t *testing.T, name, content string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask
		t.Fatal(err)
	}
	return path
}

// TestFileIsRefused has the files that aren't a plugin that may be run (plan B37, B43, B48).
func TestFileIsRefused(t *testing.T) {
	if os.Getuid() != 0 {
		unreadable := file(t, "unreadable", "x", 0o300)
		if got := refused(t, pluginclient.Options{Path: unreadable}); !strings.Contains(got.Reason, "permission denied") {
			t.Errorf("unreadable: %v", got)
		}
	}
	openDir := t.TempDir()
	if err := os.Chmod(openDir, 0o777); err != nil {
		t.Fatal(err)
	}
	inOpenDir := filepath.Join(openDir, "plugin")
	if err := os.WriteFile(inOpenDir, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	// The start of an ELF file for 64-bit Arm, little endian.
	arm := "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + "\x02\x00\xb7\x00\x01\x00\x00\x00" + strings.Repeat("\x00", 40)
	for _, c := range []struct{ name, path, sha256, reason string }{
		{"missing", filepath.Join(t.TempDir(), "none"), "", "there is no such file"},
		{"directory", t.TempDir(), "", "it is a directory"},
		{"not executable", file(t, "p", "x", 0o600), "", "it isn't executable (mode 0600)"},
		{"writable by its group", file(t, "p", "x", 0o770), "", "others may write to it (mode 0770)"},
		{"writable by all", file(t, "p", "x", 0o707), "", "others may write to it (mode 0707)"},
		{"directory writable by all", inOpenDir, "", "others may write to its directory"},
		{"text", file(t, "p", "hello\n", 0o700), "", "it is no program for"},
		{"empty", file(t, "p", "", 0o700), "", "it is no program for"},
		{"other architecture", file(t, "p", arm, 0o700), "", "but for aarch64"},
		{"interpreter missing", file(t, "p", "#!/nonexistent/sh\n", 0o700), "", "interpreter or loader"},
		{"another hash", file(t, "p", "x", 0o700), strings.Repeat("0", 64), "but 0000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := refused(t, pluginclient.Options{Path: c.path, SHA256: c.sha256, RuntimeDir: runtimeDir(t)})
			if !strings.Contains(got.Reason, c.reason) || !got.Permanent {
				t.Errorf("%v, permanent: %t; want %q", got, got.Permanent, c.reason)
			}
		})
	}
}

// TestStartIsRefused has the programs that start but aren't a plugin that can be used (plan
// B38 to B42 and B44).
func TestStartIsRefused(t *testing.T) {
	for _, c := range []struct {
		mode, reason, lastLine string
		permanent              bool
	}{
		{"exit 0", "it ended (exit status 0) before it answered", "", false},
		{"exit 7", "it ended (exit status 7) before it answered", "no disk", false},
		{"panic", "it crashed at its start (exit status 2)", "panic: bad init", false},
		{"foreign", "a plugin of another program", "This binary is a plugin.", false},
		{"silent", "it didn't answer within 300ms", "", false},
		{"garbage", "it didn't answer within 300ms", "", false},
		{"mute", "it didn't answer within 300ms", "", false},
		{"short-lived", "it ended (exit status 6) right after it had answered", "that was all", false},
		{"odd name", `it calls itself "Bad name"`, "", true},
		{"tcp", `it listens on tcp "10.0.0.1:443"; only a unix socket`, "", true},
		{"outside", `it listens on "/tmp/elsewhere/socket", outside of the directory`, "", true},
		{"climbing", "outside of the directory", "", true},
		{"no socket", "which is no socket", "", true},
		{"protocol 9", "it speaks version 9 of the plugin protocol, this anarchon speaks version 1", "", true},
		{"core protocol 2", "version 2 of go-plugin's handshake; want 1", "", true},
		{"net rpc", `it speaks "netrpc"; want grpc`, "", true},
		{"no certificate", "it offers no certificate", "", true},
		{"bad certificate", "its certificate for TLS can't be read", "", true},
	} {
		t.Run(c.mode, func(t *testing.T) {
			options := self(t, c.mode)
			if strings.Contains(c.reason, "300ms") {
				options.StartTimeout = 300 * time.Millisecond
			}
			got := refused(t, options)
			if !strings.Contains(got.Reason, c.reason) || !strings.HasPrefix(got.LastLine, c.lastLine) || got.Permanent != c.permanent {
				t.Errorf("%v, permanent: %t; want %q with last line %q, permanent: %t", got, got.Permanent, c.reason, c.lastLine, c.permanent)
			}
		})
	}
}

func TestWrongCookieIsTold(t *testing.T) {
	options := self(t, "good")
	options.Path = file(t, "plugin.sh", "#!/bin/sh\nANARCHON_PLUGIN=other exec '"+options.Path+"'\n", 0o700)
	got := refused(t, options)
	if !strings.Contains(got.Reason, "it ended (exit status 64)") || !strings.Contains(got.LastLine, "--describe") {
		t.Errorf("%v", got)
	}
}

func TestCookieCannotBeOverridden(t *testing.T) {
	options := self(t, "good")
	options.Env = append(options.Env, "ANARCHON_PLUGIN=other")
	open(t, options)
}

func TestRuntimeDirThatIsTooLongIsRefused(t *testing.T) {
	options := self(t, "good")
	options.RuntimeDir = "/" + strings.Repeat("x", 80)
	if got := refused(t, options); !strings.Contains(got.Reason, "81 bytes; at most 69 are allowed") {
		t.Errorf("%v doesn't name the limit", got)
	}
	// The longest that is allowed works: the limit isn't a guess.
	base := runtimeDir(t)
	long := base + "/" + strings.Repeat("x", 69-len(base)-1)
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(long); err != nil {
			t.Error(err)
		}
	})
	options.RuntimeDir = long
	open(t, options)
}

func TestMissingRuntimeDirIsTold(t *testing.T) {
	options := self(t, "good")
	options.RuntimeDir = "/nonexistent"
	if got := refused(t, options); !strings.Contains(got.Reason, "/nonexistent") {
		t.Errorf("%v doesn't name the directory", got)
	}
}

func TestRightHashIsAcceptedEveryTime(t *testing.T) {
	options := self(t, "good")
	data, err := os.ReadFile(options.Path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	options.SHA256 = hex.EncodeToString(sum[:])
	for range 2 {
		closePlugin(t, open(t, options), 10*time.Second)
	}
}

func TestScriptIsStarted(t *testing.T) {
	options := self(t, "good")
	options.Path = file(t, "plugin.sh", "#!/bin/sh\nexec '"+options.Path+"'\n", 0o700)
	if got := open(t, options).Describe().Name; got != "test" {
		t.Errorf("name %q", got)
	}
}

func TestRelativePathIsStarted(t *testing.T) {
	options := self(t, "good")
	working, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if options.Path, err = filepath.Rel(working, options.Path); err != nil {
		t.Fatal(err)
	}
	open(t, options)
}

// TestCallerGivesUp ends the start long before its timeout.
func TestCallerGivesUp(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := pluginclient.Open(ctx, self(t, "silent"))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v; want the caller's deadline", err)
	}
}

// TestNoiseBeforeTheHandshake has a line of 200 KB, NUL and CRLF (plan B41).
func TestNoiseBeforeTheHandshake(t *testing.T) {
	var log recorder
	options := self(t, "noisy")
	options.Log = log.logger()
	closePlugin(t, open(t, options), 10*time.Second)
	texts := log.texts()
	if len(texts) != 3 || len(texts[0]) != 64<<10 || texts[1] != "��|1|" || texts[2] != "hello" {
		for _, text := range texts {
			t.Errorf("text of %d bytes: %.40q", len(text), text)
		}
	}
}

// TestEnvironmentStaysOutside: go-plugin by itself passes the whole of it on.
func TestEnvironmentStaysOutside(t *testing.T) {
	t.Setenv("AWS_SECRET_ACCESS_KEY", "hunter22")
	t.Setenv("HOME", "/home/me")
	options := self(t, "env")
	options.Env = append(options.Env, "EXTRA=1")
	var log recorder
	options.Log = log.logger()
	if got := refused(t, options); !strings.Contains(got.Reason, "exit status 5") {
		t.Errorf("%v", got)
	}
	var names []string
	for entry := range strings.SplitSeq(log.texts()[0], "�") {
		if name, _, ok := strings.Cut(entry, "="); ok {
			names = append(names, name)
		}
	}
	allowed := []string{
		"PATH", "TZ", "TMPDIR", "HOME", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR", "EXTRA", "GORACE", modeEnv,
		"ANARCHON_PLUGIN", "ANARCHON_LOG_LEVEL", "PLUGIN_MIN_PORT", "PLUGIN_MAX_PORT", "PLUGIN_PROTOCOL_VERSIONS",
		"PLUGIN_CLIENT_CERT", "PLUGIN_UNIX_SOCKET_DIR", "PWD", // exec.Cmd adds PWD for Dir
	}
	for _, name := range names {
		if !slices.Contains(allowed, name) {
			t.Errorf("variable %s reached the plugin", name)
		}
	}
	for _, name := range []string{"PATH", "HOME", "EXTRA", "ANARCHON_PLUGIN"} {
		if !slices.Contains(names, name) {
			t.Errorf("variable %s didn't reach the plugin", name)
		}
	}
}

// TestChildThatLeftTheGroup holds the pipes of a plugin that is gone (plan B45).
func TestChildThatLeftTheGroup(t *testing.T) {
	var log recorder
	options := self(t, "runaway maker")
	options.Log = log.logger()
	if got := refused(t, options); got.LastLine != "gone" {
		t.Errorf("%v", got)
	}
	pid, err := strconv.Atoi(strings.TrimPrefix(log.texts()[0], "child "))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("the child: %v; it had left the group, so nobody should have killed it", err)
	}
}
