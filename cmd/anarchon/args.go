package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/agext/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// checkArgs makes every complaint about arguments a usage error that names the help to read,
// and has groups of commands complain about what isn't one of them.
func checkArgs(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	wrapArgs(root)
	for _, c := range root.Commands() {
		if c.Name() == "help" {
			c.Args = checkTopic
		}
	}
}

// checkTopic has help complain as the command would that it is asked about.
func checkTopic(help *cobra.Command, args []string) error {
	topic, rest, err := help.Root().Find(args)
	if err == nil && topic.HasSubCommands() {
		err = topic.Args(topic, rest)
	}
	return err
}

func wrapArgs(cmd *cobra.Command) {
	if cmd.HasSubCommands() {
		cmd.Args = unknownCommand
		cmd.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		cmd.DisableFlagsInUseLine = true
		cmd.SuggestionsMinimumDistance = 2
	}
	if check := cmd.Args; check != nil {
		cmd.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return usageError(c, err)
			}
			return nil
		}
	}
	for _, sub := range cmd.Commands() {
		wrapArgs(sub)
	}
}

func usageError(cmd *cobra.Command, err error) error {
	return invalid(fmt.Errorf("%w (see '%s --help')", err, cmd.CommandPath()))
}

// unknownCommand refuses what is left when the commands' names have been read.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		text += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return errors.New(text)
}

func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q", args[0])
	}
	return nil
}

// oneArg wants one argument; what says which.
func oneArg(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("want one argument, %s; got %d", what, len(args))
		}
		return nil
	}
}

// flagError says which flag was probably meant.
func flagError(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if near := nearFlag(cmd.Flags(), unknown.GetSpecifiedName()); near != "" {
			err = fmt.Errorf("%w; did you mean --%s?", err, near)
		}
	}
	return usageError(cmd, err)
}

// nearFlag returns the flag that begins with name, or else differs from it in few letters, or "".
func nearFlag(flags *pflag.FlagSet, name string) string {
	best, least := "", len(name)
	flags.VisitAll(func(f *pflag.Flag) {
		distance := levenshtein.Distance(name, f.Name, nil)
		if strings.HasPrefix(f.Name, name) {
			distance = 0
		}
		if distance < least && distance <= 1+len(f.Name)/4 {
			best, least = f.Name, distance
		}
	})
	return best
}
