package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/anarchon-scheduler/anarchon/core/schedule"
)

func newVersion(s streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Show the versions of anarchon, Go and the time zone data",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return writeJSON(s.out, struct {
					Format string `json:"format"`
					Core   string `json:"version"`
					Go     string `json:"go"`
					Zones  string `json:"time_zone_data"`
				}{jsonFormat, buildVersion(), runtime.Version(), schedule.ZoneDataVersion()})
			}
			fmt.Fprint(s.out, versionLine())
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func versionLine() string {
	return fmt.Sprintf("anarchon %s, %s, time zone data %s\n", buildVersion(), runtime.Version(), schedule.ZoneDataVersion())
}

// buildVersion is the linker's version, else the module's, as `go install` records it.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "dev"
}
