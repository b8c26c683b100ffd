package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"
)

// devOptions are the flags of `anarchon dev`.
type devOptions struct {
	config    string
	dataDir   string
	instances int
	length    time.Duration
	kill      time.Duration
}

func newDev(s streams) *cobra.Command {
	var o devOptions
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Run several instances on this machine and show who runs what",
		Long: `Run several instances on this machine, as processes of their own, and show who runs what.

Without --data-dir the instances use a throw-away directory, so nothing that they write stays.`,
		Example: `  anarchon dev --config examples/quickstart
  anarchon dev --config examples/quickstart --for 20s --kill 6s`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.instances < 1 || o.instances > 16 {
				return invalid(fmt.Errorf("--instances %d: want from 1 to 16", o.instances))
			}
			if o.length < 0 || o.kill < 0 {
				return invalid(errors.New("--for and --kill want a time that isn't negative"))
			}
			if o.kill > 0 && o.instances == 1 {
				return invalid(errors.New("--kill needs at least two instances: one that is killed, one that takes over"))
			}
			return runDev(cmd.Context(), s, o)
		},
	}
	flags := cmd.Flags()
	addConfigFlag(flags, &o.config)
	flags.StringVar(&o.dataDir, "data-dir", "", "keep the instances' data in this `directory`")
	flags.IntVar(&o.instances, "instances", 3, "how many instances to run")
	flags.DurationVar(&o.length, "for", 0, "stop after this long (default: at Ctrl-C)")
	flags.DurationVar(&o.kill, "kill", 0, "after this long, kill -9 an instance that is in the middle of a run")
	return cmd
}

func runDev(ctx context.Context, s streams, o devOptions) error {
	// Wrong files are told once, not by each instance.
	if _, err := load(ctx, s, o.config, "dev"); err != nil {
		return err
	}
	if o.dataDir == "" {
		dir, err := os.MkdirTemp("", "anarchon-dev-")
		if err != nil {
			return err
		}
		defer removeAll(dir)
		o.dataDir = dir
	}
	var err error
	if o.dataDir, err = filepath.Abs(o.dataDir); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if o.length > 0 {
		timer := time.AfterFunc(o.length, stop)
		defer timer.Stop()
	}
	fmt.Fprintf(s.out, "%s on %s; Ctrl-C stops them\n\n", count(o.instances, "instance"), o.config)
	board := newBoard(s.out)
	for n := range o.instances {
		board.agents = append(board.agents, &devAgent{name: fmt.Sprintf("i%d", n+1), board: board})
	}
	return runAgents(ctx, stop, board, o)
}

// runAgents starts the instances and returns when all of them have ended.
func runAgents(ctx context.Context, stop func(), board *board, o devOptions) error {
	var all sync.WaitGroup
	for _, agent := range board.agents {
		if err := agent.start(ctx, o); err != nil {
			stop()
			all.Wait()
			return err
		}
		all.Go(agent.wait)
	}
	if o.kill > 0 {
		timer := time.AfterFunc(o.kill, board.killNext)
		defer timer.Stop()
	}
	all.Wait()
	board.summary()
	return board.failure()
}
