// Command brokenplugin is a store plugin that is broken in one way, to test the suite with.
//
// The fault is the setting "fault", or what follows "brokenplugin-" in the name that the
// program was started by: a copy, or a link, called brokenplugin-noise is broken by noise.
// Without a fault it conforms. The faults of stores are those of package broken; those of
// processes are noise, plain_log, loud_log, leaks_secret and dies_of_sigterm.
//
// Its data is the file that the setting "path" names; all its processes share it.
package main

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/pluginserver"
	"github.com/anarchon-scheduler/anarchon/pluginapi/storetest/internal/broken"
)

// The faults of processes.
const (
	// noise prints to standard output before the handshake.
	noise broken.Fault = "noise"
	// plainLog writes text to standard error.
	plainLog broken.Fault = "plain_log"
	// loudLog logs whatever the level.
	loudLog broken.Fault = "loud_log"
	// leaksSecret logs its password, which its schema doesn't mark as sensitive.
	leaksSecret broken.Fault = "leaks_secret"
	// diesOfSigterm ends when somebody stops the whole process group.
	diesOfSigterm broken.Fault = "dies_of_sigterm"
)

func main() {
	_, name, _ := strings.Cut(filepath.Base(os.Args[0]), "brokenplugin-")
	fault := broken.Fault(name)
	if fault == noise && len(os.Args) == 1 { // not with --describe
		fmt.Println("brokenplugin starts")
	}
	os.Exit(pluginserver.Serve(pluginserver.Options{
		Name:    "broken",
		Version: "0.0.1",
		Schema:  schema,
		New:     func(log *slog.Logger) pluginapi.Store { return newStore(log, fault) },
	}))
}
