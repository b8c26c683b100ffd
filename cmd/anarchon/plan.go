package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/core/schedule"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// planNights is how far plan looks for nights in which clocks change: every zone that has such
// nights has two of them in it.
const planNights = 400

// planJob is a job as plan shows it.
type planJob struct {
	Job      string   `json:"job"`
	Schedule string   `json:"schedule"`
	Words    string   `json:"words"`
	TimeZone string   `json:"time_zone"`
	Enabled  bool     `json:"enabled"`
	Next     []string `json:"next"`
	Nights   []string `json:"clock_changes"`
	Notes    []string `json:"notes"`
	Start    string   `json:"start"`
	Failure  string   `json:"failure"`

	job   *job.Job
	slots []schedule.Slot
}

func newPlan(s streams) *cobra.Command {
	var config, dataDir, from string
	var n int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Show what will run when, and with which guarantee",
		Long: `Show each job's next slots in its zone and in UTC, the nights in which clocks change and what
happens then, and what the store guarantees with these settings. Nothing connects to a store.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			start, err := startOf(from)
			if err != nil {
				return err
			}
			if n < 1 || n > 1000 {
				return invalid(fmt.Errorf("-n %d: want from 1 to 1000", n))
			}
			l, err := load(cmd.Context(), s, config, dataDir)
			if err != nil {
				return err
			}
			jobs := make([]planJob, len(l.config.Jobs))
			for i, j := range l.config.Jobs {
				jobs[i] = planOf(j, l.info.Kind, start, n)
			}
			if asJSON {
				return writeJSON(s.out, struct {
					Format    string    `json:"format"`
					Store     string    `json:"store"`
					Kind      string    `json:"kind"`
					Guarantee string    `json:"guarantee"`
					Jobs      []planJob `json:"jobs"`
				}{jsonFormat, l.store.Name, l.info.Kind.String(), l.info.Guarantee, jobs})
			}
			fmt.Fprintf(s.out, "store %s (%s), a %s store\n  %s\n", l.store.Name, l.name, l.info.Kind, l.info.Guarantee)
			for _, p := range jobs {
				p.write(s)
			}
			return nil
		},
	}
	flags := cmd.Flags()
	addConfigFlag(flags, &config)
	addDataDirFlag(flags, &dataDir)
	flags.StringVar(&from, "from", "", "list slots after this `time`, RFC 3339 (default now)")
	flags.IntVarP(&n, "count", "n", 5, "how many slots of each job to list")
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func planOf(j *job.Job, kind pluginapi.Kind, from schedule.Slot, n int) planJob {
	p := planJob{
		Job: j.Name, Schedule: j.Schedule.String(), Words: j.Schedule.Words(), TimeZone: j.Schedule.Zone().String(),
		Enabled: j.Enabled, Notes: list(j.Schedule.Notes()), Nights: []string{}, job: j,
		Start: fmt.Sprintf("within %s of the slot; skipped when nobody has claimed it after %s",
			job.FormatDuration(j.Jitter), job.FormatDuration(j.MaxLate)),
	}
	switch {
	case kind == pluginapi.Gate:
		p.Failure = "never started twice: if its instance dies, nobody goes on with the run"
	case j.MaxAttempts == 1:
		p.Failure = "never started twice: if its instance dies, the run ends as interrupted"
	default:
		p.Failure = fmt.Sprintf("taken over within %s if its instance dies, at most %d starts",
			job.FormatDuration(j.Lease+2*j.Heartbeat), j.MaxAttempts)
	}
	p.slots = nextSlots(j.Schedule, from, n)
	p.Next = make([]string, len(p.slots))
	for i, slot := range p.slots {
		p.Next[i] = slot.Time().Format(time.RFC3339)
	}
	for _, night := range j.Schedule.Nights(from, planNights) {
		if night.Effect != "" {
			p.Nights = append(p.Nights, j.Schedule.Zone().Time(night.At).Format("Mon 2006-01-02 15:04 -07:00")+": "+night.Effect)
		}
	}
	return p
}

func (p planJob) write(s streams) {
	state := ""
	if !p.Enabled {
		state = " (disabled: none of these will run)"
	}
	fmt.Fprintf(s.out, "\n%s%s\n  %s\n", p.Job, state, p.Words)
	writeSlots(s.out, "    ", p.job.Schedule, p.slots)
	if len(p.slots) == 0 {
		fmt.Fprintln(s.out, "    not due any more")
	}
	for _, line := range append([]string{p.Start, p.Failure}, p.Notes...) {
		fmt.Fprintf(s.out, "  %s\n", line)
	}
	for _, night := range p.Nights {
		fmt.Fprintf(s.out, "  clock change: %s\n", night)
	}
}
