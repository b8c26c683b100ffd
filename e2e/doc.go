// Package e2e runs the built binaries, several instances on one machine with a real store,
// under faults. It imports none of the packages that it tests; `make e2e` builds and runs it.
//
// What ran is not taken from anarchon's own word: the jobs themselves append a line to a
// witness file, in one write with O_APPEND, so the file's order is the order of events.
package e2e
