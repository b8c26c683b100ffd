//go:build faultpoints

package fault

import (
	"os"
	"strings"
	"syscall"
)

// Enabled tells whether this build has faults.
const Enabled = true

// Point lets happen what ANARCHON_FAULT says for name.
func Point(name string) {
	for entry := range strings.SplitSeq(os.Getenv(Env), ";") {
		point, what, _ := strings.Cut(strings.TrimSpace(entry), "=")
		if point != name {
			continue
		}
		action, once, _ := strings.Cut(what, ",once:")
		if once != "" && !first(once) {
			continue
		}
		switch action {
		case "kill":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // the signal may take a moment; nothing may be answered meanwhile
		case "hang":
			select {}
		}
	}
}

// first tells whether this is the first process to create the marker.
func first(marker string) bool {
	file, err := os.OpenFile(marker, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return false
	}
	return file.Close() == nil
}
