// Command anarchon is a leaderless distributed cron. Every instance reads the same job files;
// a shared store gives each slot of each job to exactly one of them.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/anarchon-scheduler/anarchon/core/runner"
)

// version is set by the linker in release builds; see buildVersion.
var version string

func main() {
	if runner.IsShim(os.Args) {
		os.Exit(runner.ShimMain())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr})
	stop()
	os.Exit(code)
}
