package pluginclient

import (
	"fmt"
	"strings"
)

// StartError says why a plugin couldn't be started.
type StartError struct {
	// Path is the plugin's file.
	Path string
	// Reason is what was found, what is allowed, and the way out.
	Reason string
	// LastLine is the last line that the plugin wrote to standard error; may be empty.
	LastLine string
	// Permanent tells that another try will end the same way until somebody changes the
	// file or the settings. A start that isn't Permanent is worth repeating, after a while.
	Permanent bool
}

// Error returns the path, the reason and the last line.
func (e *StartError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "plugin %s: %s", e.Path, e.Reason)
	if e.LastLine != "" {
		fmt.Fprintf(&b, "; its last line on standard error: %q", e.LastLine)
	}
	return b.String()
}
