package jobfile

import (
	"fmt"
	"strings"

	"github.com/agext/levenshtein"
)

// suggest returns the sentence that says which of the names was probably meant, or else all
// of them.
func suggest(found string, names []string) string {
	if near := nearest(found, names); near != "" {
		return fmt.Sprintf("Did you mean %q?", near)
	}
	const most = 24
	if len(names) == 0 || len(names) > most {
		return ""
	}
	return "There are: " + strings.Join(names, ", ") + "."
}

// nearest returns the name that differs from found in few letters, or "". Two letters that
// changed places count as two.
func nearest(found string, names []string) string {
	const longest, most = 64, 200 // the cost grows with the square, and with each name
	if len(found) > longest || len(names) > most {
		return ""
	}
	best, least := "", 0
	for _, name := range names {
		distance := levenshtein.Distance(strings.ToLower(found), name, nil)
		if distance <= 1+len(name)/4 && (best == "" || distance < least) {
			best, least = name, distance
		}
	}
	return best
}

// sentence returns text with a capital letter and a full stop.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	if !strings.HasSuffix(text, "?") && !strings.HasSuffix(text, ".") {
		text += "."
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
