package timing

import "time"

// stepNoticed is how far the clocks must drift apart between two wakes to count as a step: NTP
// slews by at most 0.5 ms a second, which is 30 ms in a minute (adjtime).
const stepNoticed = 500 * time.Millisecond

// Step is a jump of the wall clock, a sleep of the machine, or both.
type Step struct {
	// Wall is how far the wall clock was put forward, sleep not counted; negative: back.
	Wall time.Duration
	// Asleep is for how long the machine slept; 0 without a clock that counts it (Options.Boot).
	Asleep time.Duration
}

// steps compares how far the clocks have gone between two wakes.
type steps struct {
	o    *Options
	last reading
}

// reading is what the clocks show at one moment.
type reading struct {
	wall time.Time
	mono time.Time
	boot time.Duration
}

func (s *steps) begin() { s.last = s.read() }

// look reports a step since the last look.
func (s *steps) look() {
	now := s.read()
	mono := now.mono.Sub(s.last.mono)
	asleep := now.boot - s.last.boot - mono
	if s.o.Boot == nil || asleep < stepNoticed {
		asleep = 0
	}
	wall := now.wall.Sub(s.last.wall) - mono - asleep
	if wall.Abs() < stepNoticed {
		wall = 0
	}
	s.last = now
	if s.o.OnStep != nil && (wall != 0 || asleep != 0) {
		s.o.OnStep(Step{Wall: wall, Asleep: asleep})
	}
}

// read reads the clocks. A process that is frozen between two of them would see a step that
// wasn't: it reads them again, and gives up on a machine where that happens every time.
func (s *steps) read() reading {
	var r reading
	for range 3 {
		r.mono = time.Now()
		r.wall = s.o.Now().Round(0) // without the monotonic reading, which hides a step
		if s.o.Boot != nil {
			r.boot = s.o.Boot()
		}
		if time.Since(r.mono) < stepNoticed/10 {
			break
		}
	}
	return r
}
