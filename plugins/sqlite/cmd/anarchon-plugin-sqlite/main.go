// Command anarchon-plugin-sqlite is anarchon's store for instances on one machine. The core
// starts it; see the README of its module for the settings.
package main

import (
	"log/slog"
	"os"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/pluginserver"
	"github.com/anarchon-scheduler/anarchon/plugins/sqlite"
)

// version is set by the linker in release builds.
var version string

func main() {
	os.Exit(pluginserver.Serve(pluginserver.Options{
		Name: "sqlite", Version: version, Schema: sqlite.Schema(),
		New: func(log *slog.Logger) pluginapi.Store { return sqlite.New(log) },
	}))
}
