package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/core/jobfile"
	"github.com/anarchon-scheduler/anarchon/core/storeplugin"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/pluginclient"
)

func addConfigFlag(flags *pflag.FlagSet, config *string) {
	flags.StringVar(config, "config", ".", "the `directory` with the job files, or one file")
}

func addDataDirFlag(flags *pflag.FlagSet, dir *string) {
	flags.StringVar(dir, "data-dir", "", "the instance's `directory` (default: the configuration's data_dir, else "+defaultDataDir()+")")
}

// defaultDataDir is the system's place for root, and the user's else.
func defaultDataDir() string {
	if os.Geteuid() == 0 {
		return "/var/lib/anarchon"
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "anarchon")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "."
	}
	return filepath.Join(home, ".local", "state", "anarchon")
}

// loaded is a configuration whose store block was checked against its plugin.
type loaded struct {
	config  *jobfile.Config
	dataDir string
	store   *jobfile.Store
	plugin  string // the path of the store's plugin
	setting json.RawMessage
	info    pluginapi.Info // what the store would give with these settings
	name    string         // the plugin's own name and version, for people
}

// loadFiles reads the files.
func loadFiles(path string) (*jobfile.Config, jobfile.Diagnostics) {
	return jobfile.Load(jobfile.Options{Path: path, Version: buildVersion(), Privileged: os.Geteuid() == 0})
}

// load reads the files, asks the store's plugin what its settings would give, and checks the
// jobs' rules against that. Nothing connects to a backend. The mistakes in all of it are shown
// together, and end the command.
func load(ctx context.Context, s streams, path, dataDir string) (*loaded, error) {
	config, found := loadFiles(path)
	l := &loaded{config: config}
	more, err := l.askPlugin(ctx, dataDir)
	found = append(found, more...)
	slices.SortStableFunc(found, func(a, b jobfile.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if mistakes := showDiagnostics(s, found); err == nil {
		err = mistakes
	}
	return l, err
}

// askPlugin completes l as far as its store block allows, and returns the mistakes in that and
// in the jobs' rules. Without an answer of the plugin's, the rules are those of any lease store.
func (l *loaded) askPlugin(ctx context.Context, dataDir string) (jobfile.Diagnostics, error) {
	switch stores := l.config.Stores; len(stores) {
	case 0: // its block is one of the mistakes
		return nil, nil
	case 1:
		l.store = stores[0]
	default:
		return nil, invalid(fmt.Errorf("the configuration has %d store blocks, among them %s and %s; this version uses exactly one: keep one of them",
			len(stores), stores[0].Name, stores[1].Name))
	}
	var err error
	if l.dataDir, err = resolveDataDir(l.config, dataDir); err != nil {
		return nil, err
	}
	promise := job.Store{Leases: true}
	found, err := l.decode(ctx)
	if err == nil && !found.HasErrors() {
		promise.Leases = l.info.Kind == pluginapi.Lease
		promise.Memory = job.Memory{Window: l.info.Memory.Window, MaxRuns: l.info.Memory.MaxRuns}
	}
	return append(found, l.config.Check(l.store.Name, promise)...), err
}

// decode reads the store block by its plugin's schema, and has the plugin look at it.
func (l *loaded) decode(ctx context.Context) (jobfile.Diagnostics, error) {
	var err error
	if l.plugin, err = storeplugin.Find(l.store.Plugin, storeplugin.Dirs(os.Getenv)); err != nil {
		return nil, invalid(err)
	}
	plugin, err := openPlugin(ctx, l.plugin)
	if err != nil {
		return nil, err
	}
	defer closePlugin(ctx, plugin)
	description := plugin.Describe()
	l.name = description.Name + " " + description.Version
	settings, found := l.store.Decode(description.Schema, l.dataDir)
	if found.HasErrors() {
		return found, nil
	}
	l.setting = settings.JSON
	l.info, err = plugin.Validate(ctx, pluginapi.Config{Settings: l.setting})
	if e, ok := errors.AsType[*pluginapi.Error](err); ok && len(e.Diagnostics) > 0 {
		return append(found, settings.Locate(e.Diagnostics)...), nil
	}
	if err != nil {
		return found, fmt.Errorf("plugin %s: %w", l.plugin, err)
	}
	return append(found, settings.Locate(l.info.Warnings)...), nil
}

func resolveDataDir(config *jobfile.Config, flag string) (string, error) {
	dir := flag
	if dir == "" {
		dir = config.Agent.DataDir
	}
	if dir == "" {
		dir = defaultDataDir()
	}
	return filepath.Abs(dir)
}

// showDiagnostics shows what was found and returns an error when it stops the command.
func showDiagnostics(s streams, found jobfile.Diagnostics) error {
	if len(found) == 0 {
		return nil
	}
	if err := found.Render(s.err, styleOf(s.err)); err != nil {
		return err
	}
	if found.HasErrors() {
		return shown(exitUsage)
	}
	return nil
}

// styleOf is what the reader of w can see: colour only on terminals, and never against
// NO_COLOR (no-color.org).
func styleOf(w io.Writer) jobfile.Style {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) || os.Getenv("TERM") == "dumb" {
		return jobfile.Style{}
	}
	locale := os.Getenv("LC_ALL") + os.Getenv("LC_CTYPE") + os.Getenv("LANG")
	return jobfile.Style{
		Colour:  os.Getenv("NO_COLOR") == "",
		Unicode: strings.Contains(strings.ToUpper(strings.ReplaceAll(locale, "-", "")), "UTF8"),
	}
}

// openPlugin starts a plugin for a command that only asks it something.
func openPlugin(ctx context.Context, path string) (*pluginclient.Plugin, error) {
	plugin, err := pluginclient.Open(ctx, pluginclient.Options{Path: path, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	return plugin, nil
}

// closeTimeout is more than a plugin gets to end by itself before it is killed.
const closeTimeout = 10 * time.Second

// closePlugin ends the plugin also when ctx has ended. Whatever it says, it is gone after it.
func closePlugin(ctx context.Context, plugin *pluginclient.Plugin) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	_ = plugin.Close(ctx) // the command's answer stands whether or not it ended politely
}

// removeAll removes a directory of ours when a command ends; what is left does no harm.
func removeAll(dir string) { _ = os.RemoveAll(dir) }
