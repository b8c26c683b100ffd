//go:build !faultpoints

package fault

// Enabled tells whether this build has faults.
const Enabled = false

// Point does nothing in this build.
func Point(string) {}
