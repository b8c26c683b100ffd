package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newValidate(s streams) *cobra.Command {
	var config, dataDir string
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Check job files: every mistake at once, with file, line and column",
		Long: `Check job files: syntax, names, types, schedules, the store's settings, and the rules that keep a
job from running twice. All mistakes are shown in one pass. Exit code 2 when there are any.

The store's plugin is started for its schema; nothing connects to a store.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := load(cmd.Context(), s, config, dataDir)
			if err != nil {
				return err
			}
			fmt.Fprintf(s.out, "valid: %s in %s; store %s, plugin %s\n",
				count(len(l.config.Jobs), "job"), count(len(l.config.Files), "file"), l.store.Name, l.name)
			return nil
		},
	}
	addConfigFlag(cmd.Flags(), &config)
	addDataDirFlag(cmd.Flags(), &dataDir)
	return cmd
}

// count returns "1 job" or "2 jobs".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
