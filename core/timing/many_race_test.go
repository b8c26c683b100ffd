//go:build race

package timing_test

// many is less under the race detector, with which each job takes forty times as long.
const many = 50_000
