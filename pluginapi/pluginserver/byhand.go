package pluginserver

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/handshake"
)

// manifest describes a plugin to tools that don't speak its protocol.
type manifest struct {
	Name      string           `json:"name"`
	Version   string           `json:"version"`
	Protocols []int            `json:"protocols"`
	OS        string           `json:"os"`
	Arch      string           `json:"arch"`
	MTLS      bool             `json:"mtls"`
	Schema    pluginapi.Schema `json:"schema"`
}

// byHand answers somebody who started the plugin without anarchon.
func byHand(options Options, args []string, stdout, stderr io.Writer) int {
	if len(args) == 1 && args[0] == "--describe" {
		encoder := json.NewEncoder(stdout)
		encoder.SetIndent("", "  ")
		err := encoder.Encode(manifest{
			Name:      options.Name,
			Version:   options.Version,
			Protocols: []int{handshake.Protocol},
			OS:        runtime.GOOS,
			Arch:      runtime.GOARCH,
			MTLS:      true,
			Schema:    options.Schema,
		})
		if err != nil {
			return exitFailed
		}
		return exitOK
	}
	_, _ = fmt.Fprintf(stderr, "This is the %s store plugin of anarchon, version %s (plugin protocol %d).\n"+
		"anarchon starts it by itself, for a store block of type %q; there is no use in running it by hand.\n"+
		"With --describe it prints what it is and which settings it takes.\n",
		options.Name, options.Version, handshake.Protocol, options.Name)
	return exitUsage
}
