package schedule_test

import (
	"fmt"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/schedule"
)

// A nightly job in the night in which the clock is put forward.
func ExampleParse() {
	berlin, err := schedule.LoadZone("Europe/Berlin")
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := schedule.Parse("30 2 * * *", schedule.Options{Zone: berlin})
	if err != nil {
		fmt.Println(err)
		return
	}
	slot := schedule.SlotOf(time.Date(2026, time.March, 28, 0, 0, 0, 0, time.UTC))
	for range 3 {
		slot, _ = s.Next(slot)
		fmt.Printf("%s (%s)\n", berlin.Time(slot).Format("Mon 2 Jan 15:04 MST"), s.Explain(slot))
	}
	// Output:
	// Sat 28 Mar 02:30 CET ()
	// Sun 29 Mar 03:30 CEST (moved: 02:30 does not exist)
	// Mon 30 Mar 02:30 CEST ()
}

// An error points at the bytes that are wrong.
func ExampleParseError() {
	_, err := schedule.Parse("0 75 2 * * *", schedule.Options{})
	fmt.Println(err)
	// Output:
	// minute "75" at column 3: the minute goes from 0 to 59; six fields are read as: second minute hour day-of-month month weekday
}
