// Package memstore is the reference store: the whole behaviour of package pluginapi, in
// memory, on a clock that tests can set.
//
// [New] makes the data and the first client on it; [Store.Open] opens another client on the
// same data, as another instance's plugin would; [Store.Gate] opens one that promises no more
// than a gate store does. One mutex makes every batch indivisible and orders all claims. The
// data ends with the process, so this store serves tests, examples and single instances that
// may forget.
//
// The decision itself is the table of semantics §3.1; claim.go is that table, row by row.
package memstore
