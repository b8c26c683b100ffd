//go:build race

package schedule_test

// raceEnabled tells that everything takes several times as long.
const raceEnabled = true
