package pluginapi

import "time"

// RunsQuery asks for a page of the history.
type RunsQuery struct {
	// Job limits the answer to one job; "" means all.
	Job string
	// Slot limits the answer to one run of Job; 0 means all. It needs Job.
	Slot Slot
	// Running limits the answer to runs that have not ended.
	Running bool
	// Limit is the most runs to answer; 0 means 100, and a store may answer fewer.
	Limit int
	// Cursor is [RunsPage.Next] of the page before; "" starts with the newest slot.
	Cursor string
}

// RunsPage is a page of the history, newest slot first, then by job.
type RunsPage struct {
	// Runs are the page's runs.
	Runs []Run
	// Next asks for the next page when given as [RunsQuery.Cursor]; "" after the last page.
	Next string
}

// Run is one run as the store knows it. Its times are readings of the store's clock.
type Run struct {
	// Job and Slot name the run.
	Job  string
	Slot Slot
	// Outcome is how the run ended; 0 while it is running, and on gate stores, which are
	// never told.
	Outcome Outcome
	// ExitCode and Detail are what the holder reported with the outcome.
	ExitCode int
	Detail   string
	// Finished is when the run ended; zero while it is running.
	Finished time.Time
	// LeaseLeft is what was left of the lease when the store answered; 0 unless the run is
	// running, negative when the lease has ended and nobody has taken the run over yet.
	LeaseLeft time.Duration
	// Attempts are the run's attempts, oldest first; the last one is the present holder's.
	Attempts []Attempt
}

// Attempt is one holder's turn at a run.
type Attempt struct {
	// Number counts from 1; it only grows within a run.
	Number int
	// Instance is the holder's name.
	Instance string
	// Claimed is when the store answered Won.
	Claimed time.Time
	// Released tells that the holder gave the run up, so that this attempt isn't counted.
	Released bool
}
