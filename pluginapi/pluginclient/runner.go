package pluginclient

import (
	"context"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/fault"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/handshake"
)

// The methods that make process a runner.Runner of go-plugin. The process has started and
// answered before go-plugin sees it; all it reads is the line that was checked.

// Start implements runner.Runner.
func (p *process) Start(context.Context) error { return nil }

// Stdout implements runner.Runner.
func (p *process) Stdout() io.ReadCloser {
	return io.NopCloser(strings.NewReader(p.answer + "\n"))
}

// Stderr implements runner.Runner; watch reads the real one.
func (p *process) Stderr() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }

// Wait implements runner.Runner.
func (p *process) Wait(context.Context) error {
	<-p.done
	return nil
}

// Kill implements runner.Runner.
func (p *process) Kill(context.Context) error { return p.kill() }

// ID implements runner.Runner.
func (p *process) ID() string { return strconv.Itoa(p.pid) }

// Name implements runner.Runner.
func (p *process) Name() string { return p.path }

// Diagnose implements runner.Runner.
func (p *process) Diagnose(context.Context) string { return "" }

// PluginToHost implements runner.Runner.
func (p *process) PluginToHost(network, address string) (hostNetwork, hostAddress string, err error) {
	return network, address, nil
}

// HostToPlugin implements runner.Runner.
func (p *process) HostToPlugin(network, address string) (pluginNetwork, pluginAddress string, err error) {
	return network, address, nil
}

// environment returns all that the plugin gets of an environment. Secrets of the host stay
// with the host; settings travel in Configure.
func environment(options Options, dir string) []string {
	env := []string{
		"PATH=/usr/local/bin:/usr/bin:/bin",
		"TZ=UTC",
		"TMPDIR=" + dir,
		handshake.LogLevel + "=" + options.LogLevel.String(),
	}
	passed := []string{"HOME", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR"}
	if fault.Enabled {
		passed = append(passed, fault.Env)
	}
	for _, name := range passed {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return append(env, options.Env...)
}
