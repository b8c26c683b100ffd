package job

import "strings"

// ReservedVariable says why a job can't set the environment variable of that name, and what to
// do instead; "" means that it can.
func ReservedVariable(name string) string {
	switch {
	case strings.HasPrefix(name, "LD_"):
		return "would change which code the command loads; set it in a script around the command if that is meant"
	case strings.HasPrefix(name, "ANARCHON_"):
		return "is for the variables that anarchon itself sets; take another name"
	default:
		return ""
	}
}
