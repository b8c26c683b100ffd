package main

import (
	"encoding/json"
	"io"
)

// jsonFormat stands in every JSON document, so that scripts can tell a later, other shape.
const jsonFormat = "anarchon/1"

// list returns texts as JSON shows a list: empty, not null.
func list(texts []string) []string { return append([]string{}, texts...) }

func writeJSON(w io.Writer, document any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(document)
}
