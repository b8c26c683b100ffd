package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// The exit codes of every command.
const (
	exitOK     = 0
	exitFailed = 1 // it was tried and failed
	exitUsage  = 2 // the command line or the configuration is wrong; nothing was tried
)

// streams are where a command reads and writes: results on out, everything else on err.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// codeError is an error with an exit code of its own. One without text was already shown.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *codeError) Unwrap() error { return e.err }

// invalid marks err as a mistake in the command line or the configuration.
func invalid(err error) error { return &codeError{code: exitUsage, err: err} }

// shown ends the command with code; the reason is already on the error stream.
func shown(code int) error { return &codeError{code: code} }

// resultWriter is where results go. It keeps the first error, so that whoever prints need not
// look at each line's: a full disk or a closed pipe makes the command fail all the same.
type resultWriter struct {
	io.Writer
	err error
}

func (w *resultWriter) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.Writer.Write(p)
	w.err = err
	return n, err
}

// run carries out one command line and returns its exit code.
func run(ctx context.Context, args []string, s streams) int {
	for i, arg := range args {
		if arg == "-json" { // as Terraform and Nomad write it
			args[i] = "--json"
		}
	}
	out := &resultWriter{Writer: s.out}
	s.out = out
	root := newRoot(s) //nolint:contextcheck // commands get the context from cobra
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil && out.err != nil {
		err = fmt.Errorf("write the output: %w", out.err)
	}
	if err == nil {
		return exitOK
	}
	code := exitFailed
	if e, ok := errors.AsType[*codeError](err); ok {
		code = e.code
	}
	if text := err.Error(); text != "" {
		fmt.Fprintf(s.err, "error: %s\n", text)
	}
	return code
}

func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "anarchon",
		Short: "A leaderless distributed cron: each slot of each job runs exactly once",
		Long: `anarchon runs scheduled jobs on several machines without a leader. Every instance reads
the same job files, computes the same slots, and asks a shared store for each of them:
"is this mine?". The store answers "won" to exactly one instance.

Start here:
  anarchon dev --config examples/quickstart     three instances on this machine
  anarchon validate --config DIR                check job files
  anarchon plan --config DIR                    what will run when, and with which guarantee`,
		Version:       buildVersion(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetVersionTemplate(versionLine())
	root.SetFlagErrorFunc(flagError)
	add := func(title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: title, Title: title + ":"})
		for _, c := range commands {
			c.GroupID = title
		}
		root.AddCommand(commands...)
	}
	add("Write", newValidate(s), newPlan(s), newExplain(s))
	add("Run", newDev(s), newAgent(s))
	add("Look", newRuns(s))
	add("Extend", newPlugin(s))
	add("Other", newVersion(s))
	root.SetHelpCommandGroupID("Other")
	root.SetCompletionCommandGroupID("Other")
	checkArgs(root)
	return root
}
