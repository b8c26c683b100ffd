package sqlite

import (
	"strings"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// instant is one reading of both clocks.
type instant struct {
	// wall is the wall clock: slots are due, late and early by it, and the history shows it.
	wall time.Time
	// boot is the time since the machine was started, suspends included: leases are counted
	// on it, since no correction of the wall clock can move it.
	boot time.Duration
}

// machine is what the store asks of the machine on which it runs.
type machine struct {
	now        func() instant
	bootID     func() (string, error)           // names the present boot
	fileSystem func(dir string) (string, error) // names a network file system; "" is a local one
}

func thisMachine() machine {
	return machine{
		now:        func() instant { return instant{wall: time.Now(), boot: bootTime()} },
		bootID:     bootID,
		fileSystem: networkFileSystem,
	}
}

// checkFileSystem refuses directories on network file systems.
func (m machine) checkFileSystem(dir string) error {
	name, err := m.fileSystem(dir)
	if err != nil {
		return pluginapi.Errorf(pluginapi.Unavailable, "configure", "%w", err)
	}
	if name != "" {
		return pluginapi.Errorf(pluginapi.Unsupported, "configure",
			"%s is on %s, where SQLite's locks can't be trusted and two instances could win a slot; use a local disk, or another store", dir, name)
	}
	return nil
}

// bootOffset reads the offset of CLOCK_BOOTTIME out of Linux's /proc/self/timens_offsets; "" is none.
func bootOffset(offsets string) string {
	for line := range strings.Lines(offsets) {
		f := strings.Fields(line) // the clock, seconds, nanoseconds
		if len(f) == 3 && f[0] == "boottime" && (f[1] != "0" || f[2] != "0") {
			return f[1] + " s and " + f[2] + " ns"
		}
	}
	return ""
}
