//go:build !race

package timing_test

// many is how many jobs TestMillion_jobs has.
const many = 1_000_000
