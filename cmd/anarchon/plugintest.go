package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/anarchon-scheduler/anarchon/pluginapi/storetest"
)

// pluginTestOptions are the flags of `anarchon plugin test`.
type pluginTestOptions struct {
	config string
	only   []string
	seed   uint64
	secret string
	asJSON bool
}

func newPluginTest(s streams) *cobra.Command {
	var o pluginTestOptions
	cmd := &cobra.Command{
		Use:   "test BIN",
		Short: "Check whether a store plugin keeps the contract",
		Long: `Start a store plugin as the core does and check whether it keeps the contract: one winner among
many claimers, tokens, leases, takeover, fencing, and its manners as a process.

The store is written to and killed on purpose: give it data of its own. Its settings are those of
the store block in --config; without one it gets its defaults, in a directory that is removed.
BIN is a path, or the name of an installed plugin.`,
		Example: `  anarchon plugin test ./anarchon-plugin-etcd --config store.hcl
  anarchon plugin test ./anarchon-plugin-etcd --only Takeover/ --seed 42`,
		Args: oneArg("a plugin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runPluginTest(cmd.Context(), s, args[0], o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.config, "config", "", "take the settings from the store block in this `directory or file`")
	flags.StringSliceVar(&o.only, "only", nil, "run only checks whose ID or name begins with this; may be repeated")
	flags.Uint64Var(&o.seed, "seed", 0, "repeat the random choices of an earlier run")
	flags.StringVar(&o.secret, "secret", "", "a `text` in the settings that must never be shown")
	flags.BoolVar(&o.asJSON, "json", false, "print one JSON document instead of TAP")
	return cmd
}

func runPluginTest(ctx context.Context, s streams, binary string, o pluginTestOptions) error {
	binary, err := findPlugin(binary)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "anarchon-plugin-test-")
	if err != nil {
		return err
	}
	defer removeAll(scratch)
	settings, err := pluginTestSettings(ctx, s, binary, o.config, scratch)
	if err != nil {
		return err
	}
	options := storetest.Options{Only: o.only, Seed: o.seed}
	if !o.asJSON {
		options.Each = func(r storetest.Result) {
			if r.Status == storetest.Fail {
				fmt.Fprintf(s.err, "failed: %s %s\n", r.ID, r.Name)
			}
		}
	}
	report := storetest.Execute(ctx, storetest.Target{Binary: binary, Settings: settings, Secret: o.secret}, options)
	if o.asJSON {
		err = writeJSON(s.out, struct {
			Format  string `json:"format"`
			Passed  int    `json:"passed"`
			Failed  int    `json:"failed"`
			Skipped int    `json:"skipped"`
			storetest.Report
		}{jsonFormat, report.Count(storetest.Pass), report.Count(storetest.Fail), report.Count(storetest.Skip), report})
	} else {
		err = report.WriteText(s.out)
	}
	if err != nil {
		return err
	}
	if !report.OK() {
		return shown(exitFailed)
	}
	return nil
}

// pluginTestSettings returns the settings that the plugin is tested with: those of the store
// block in config, or the schema's defaults. Relative paths are in scratch.
func pluginTestSettings(ctx context.Context, s streams, binary, config, scratch string) (json.RawMessage, error) {
	path := config
	if path == "" {
		path = filepath.Join(scratch, "store.hcl")
		block := fmt.Sprintf("store %q {}\n", "tested")
		if err := os.WriteFile(path, []byte(block), 0o600); err != nil {
			return nil, err
		}
	}
	loaded, found := loadFiles(path)
	if found.HasErrors() { // warnings are about jobs, which play no part here
		return nil, showDiagnostics(s, found)
	}
	if len(loaded.Stores) != 1 {
		return nil, invalid(fmt.Errorf("%s has %d store blocks; the test takes its settings from exactly one", path, len(loaded.Stores)))
	}
	plugin, err := openPlugin(ctx, binary)
	if err != nil {
		return nil, err
	}
	defer closePlugin(ctx, plugin)
	settings, found := loaded.Stores[0].Decode(plugin.Describe().Schema, scratch)
	if err := showDiagnostics(s, found); err != nil {
		return nil, err
	}
	return settings.JSON, nil
}
