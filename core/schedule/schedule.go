// Package schedule turns the text of a schedule into slots: pure arithmetic, no clock, no I/O.
package schedule

// Schedule gives the slots of a job.
type Schedule struct{}
