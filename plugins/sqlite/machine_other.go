//go:build !linux

package sqlite

import (
	"os"
	"runtime"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// bootID refuses: what the leases are counted on here was never tried.
func bootID() (string, error) {
	return "", pluginapi.Errorf(pluginapi.Unsupported, "configure",
		"this store counts leases on Linux's CLOCK_BOOTTIME, and this is %s; use another store", runtime.GOOS)
}

func bootTime() time.Duration { return 0 }

func networkFileSystem(string) (string, error) { return "", nil }

func createFile(string) error { return nil }

func links(os.FileInfo) uint64 { return 1 }
