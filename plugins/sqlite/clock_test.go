package sqlite_test

import (
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/plugins/sqlite"
)

func TestLeasesOfAnEarlierBootHaveEnded(t *testing.T) {
	path, boot := newFile(t), "boot-1"
	c := &clocks{}
	on := func() *sqlite.Store {
		return configure(t, sqlite.NewOn(quiet, sqlite.Machine{Now: c.now, BootID: func() (string, error) { return boot, nil }}), config(path))
	}
	held, done := newClaim("held"), newClaim("done")
	first := on()
	expect(t, first, held, pluginapi.Won)
	expect(t, first, done, pluginapi.Won)
	finish(t, first, done, pluginapi.Succeeded)
	expect(t, on(), rival(held), pluginapi.Running) // a second process of the same boot
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	boot = "boot-2"
	c.move(0, -time.Hour) // CLOCK_BOOTTIME begins anew
	second := on()
	if got := expect(t, second, rival(held), pluginapi.Won); got.Attempt != 2 {
		t.Errorf("attempt %d, want 2", got.Attempt)
	}
	expect(t, second, rival(done), pluginapi.Done)
}

func TestBootIDThatCannotBeReadIsSaid(t *testing.T) {
	broken := func() (string, error) { return "", pluginapi.Errorf(pluginapi.Unsupported, "configure", "no boot id") }
	if err := refused(t, sqlite.NewOn(quiet, sqlite.Machine{BootID: broken}), config(newFile(t))); err.Code != pluginapi.Unsupported {
		t.Errorf("got %s, %q; want unsupported", err.Code, err)
	}
}

func TestShiftedBootClockIsRecognised(t *testing.T) {
	for offsets, want := range map[string]string{
		"": "",
		"monotonic           0         0\nboottime            0         0\n":      "",
		"monotonic          10         0\nboottime            0         0\n":      "",
		"monotonic           0         0\nboottime       -86400         0\n":      "-86400 s and 0 ns",
		"monotonic           0         0\nboottime            0 500000000\n":      "0 s and 500000000 ns",
		"boottime            7         1\nmonotonic           0         0\nx y z": "7 s and 1 ns",
	} {
		if got := sqlite.BootOffset(offsets); got != want {
			t.Errorf("%q: got %q, want %q", offsets, got, want)
		}
	}
}

func TestClockStepsDoNotTouchLeases(t *testing.T) {
	c := &clocks{}
	s := configure(t, sqlite.NewOn(quiet, sqlite.Machine{Now: c.now}), config(newFile(t)))
	run := newClaim("job")
	expect(t, s, run, pluginapi.Won)
	for _, step := range []time.Duration{365 * 24 * time.Hour, -2 * 365 * 24 * time.Hour} {
		c.step(step)
		expect(t, s, rival(run), pluginapi.Running)
		if refs, err := s.Expired(t.Context(), pluginapi.ExpiredQuery{}); err != nil || len(refs) != 0 {
			t.Errorf("expired after a step of %s: %v, %v; want none", step, refs, err)
		}
	}
	c.pass(run.Lease)
	expect(t, s, rival(run), pluginapi.Won) // the lease ended on time all the same
}
