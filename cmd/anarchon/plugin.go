package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/anarchon-scheduler/anarchon/core/storeplugin"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

func newPlugin(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugin",
		Short: "List, describe and test store plugins",
	}
	cmd.AddCommand(newPluginList(s), newPluginInfo(s), newPluginTest(s))
	return cmd
}

// installed is a plugin that was found.
type installed struct {
	Name string `json:"name"`
	Path string `json:"path"`
	// Problem says why it can't be used; empty when it can.
	Problem string `json:"problem,omitempty"`
	// Hidden tells that one of the same name in an earlier directory is used instead.
	Hidden bool `json:"hidden,omitempty"`
}

func newPluginList(s streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the plugins that are found, and where they are looked for",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			dirs := storeplugin.Dirs(os.Getenv)
			found, err := findInstalled(dirs)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(s.out, struct {
					Format  string      `json:"format"`
					Dirs    []string    `json:"directories"`
					Plugins []installed `json:"plugins"`
				}{jsonFormat, dirs, found})
			}
			if len(found) == 0 {
				fmt.Fprintf(s.out, "no plugins in %s\n", strings.Join(dirs, ", "))
				return nil
			}
			t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(t, "NAME\tPATH\tNOTE")
			for _, p := range found {
				note := p.Problem
				if p.Hidden {
					note = "not used: an earlier directory has one of this name"
				}
				fmt.Fprintf(t, "%s\t%s\t%s\n", p.Name, p.Path, note)
			}
			return t.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// findInstalled lists the plugins in dirs without running any.
func findInstalled(dirs []string) ([]installed, error) {
	found := []installed{}
	seen := map[string]bool{}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			name, ok := strings.CutPrefix(entry.Name(), storeplugin.Prefix)
			if !ok {
				continue
			}
			p := installed{Name: name, Path: filepath.Join(dir, entry.Name()), Hidden: seen[name]}
			if _, err := storeplugin.Find(p.Path, nil); err != nil {
				p.Problem = err.Error()
			}
			seen[name] = true
			found = append(found, p)
		}
	}
	return found, nil
}

// findPlugin returns the path of a plugin that was named on the command line.
func findPlugin(plugin string) (string, error) {
	path, err := storeplugin.Find(plugin, storeplugin.Dirs(os.Getenv))
	if errors.Is(err, fs.ErrNotExist) {
		return "", invalid(fmt.Errorf("there is no plugin %s", plugin))
	}
	if err != nil {
		return "", invalid(err)
	}
	return path, nil
}

func newPluginInfo(s streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "info BIN",
		Short: "Start a plugin and show its version and its settings",
		Long:  "Start a plugin and show its version and its settings. BIN is a path, or the name of an installed plugin.",
		Args:  oneArg("a plugin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := findPlugin(args[0])
			if err != nil {
				return err
			}
			plugin, err := openPlugin(cmd.Context(), path)
			if err != nil {
				return err
			}
			defer closePlugin(cmd.Context(), plugin)
			d := plugin.Describe()
			if asJSON {
				return writeJSON(s.out, struct {
					Format  string           `json:"format"`
					Name    string           `json:"name"`
					Version string           `json:"version"`
					Path    string           `json:"path"`
					Schema  pluginapi.Schema `json:"schema"`
				}{jsonFormat, d.Name, d.Version, path, d.Schema})
			}
			fmt.Fprintf(s.out, "%s %s\n%s\n", d.Name, d.Version, path)
			return writeSchema(s, d.Schema)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func writeSchema(s streams, schema pluginapi.Schema) error {
	if len(schema.Attributes) == 0 && len(schema.Blocks) == 0 {
		fmt.Fprintln(s.out, "\nno settings")
		return nil
	}
	fmt.Fprintln(s.out)
	t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SETTING\tDEFAULT\tMEANING")
	writeAttributes(t, "", schema)
	return t.Flush()
}

func writeAttributes(t *tabwriter.Writer, prefix string, schema pluginapi.Schema) {
	for _, a := range schema.Attributes {
		value := string(a.Default)
		switch {
		case a.Required:
			value = "(required)"
		case a.Sensitive:
			value = "(secret)"
		}
		fmt.Fprintf(t, "%s%s\t%s\t%s\n", prefix, a.Name, value, a.Description)
	}
	for _, b := range schema.Blocks {
		fmt.Fprintf(t, "%s%s { }\t\t%s\n", prefix, b.Name, b.Description)
		writeAttributes(t, prefix+b.Name+".", b.Schema)
	}
}
