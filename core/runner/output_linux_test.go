package runner_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/anarchon-scheduler/anarchon/core/runner"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// What is kept of the output: the first 64 KiB and the last 192 KiB.
const (
	head = 64 << 10
	tail = 192 << 10
)

func TestOutput_bounds(t *testing.T) {
	for _, size := range []int{0, 1, head - 1, head, head + 1, head + tail - 1, head + tail, head + tail + 1, 1 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			got := run(t, shell(fmt.Sprintf("seq 300000 | head -c %d", size))).Output
			var all bytes.Buffer
			for i := 1; all.Len() < size; i++ {
				fmt.Fprintln(&all, i)
			}
			want := all.Bytes()[:size]
			wantOutput(t, got, want[:min(head, size)], max(0, size-head-tail), want[max(min(head, size), size-tail):])
		})
	}
}

func wantOutput(t *testing.T, got runner.Output, head []byte, dropped int, tail []byte) {
	t.Helper()
	if !bytes.Equal(got.Head, head) || got.Dropped != int64(dropped) || !bytes.Equal(got.Tail, tail) {
		t.Errorf("got %d bytes, %d dropped, %d bytes; want %d, %d, %d, with the same content",
			len(got.Head), got.Dropped, len(got.Tail), len(head), dropped, len(tail))
	}
}

// A flood of output costs the core no memory.
func TestOutput_flood(t *testing.T) {
	const flood, allowed = 1_000_000_000, 4 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := run(t, shell(fmt.Sprintf("head -c %d /dev/zero", flood)))
	runtime.ReadMemStats(&after)
	wantOutcome(t, got, pluginapi.Succeeded, "")
	wantOutput(t, got.Output, make([]byte, head), flood-head-tail, make([]byte, tail))
	if used := after.TotalAlloc - before.TotalAlloc; used > allowed {
		t.Errorf("a flood of %d bytes made the core allocate %d bytes; want at most %d", flood, used, allowed)
	}
}

// Output is kept as it is: escaping is up to who shows it.
func TestOutput_is_raw(t *testing.T) {
	const want = "\x1b[31m\xff\xfe\x00\r\n"
	if got := run(t, shell(`printf '\033[31m\377\376\000\r\n'`)).Output; string(got.Head) != want {
		t.Errorf("got %q, want %q", got.Head, want)
	}
}

func TestOutput_goes_to_a_writer_too(t *testing.T) {
	var also strings.Builder
	spec := shell("seq 100000")
	spec.Output = &also
	got := run(t, spec)
	if !strings.HasPrefix(also.String(), string(got.Output.Head)) || !strings.HasSuffix(also.String(), string(got.Output.Tail)) ||
		int64(also.Len()) != head+tail+got.Output.Dropped {
		t.Errorf("the writer got %d bytes, which aren't the output", also.Len())
	}
}

func TestDetail_tells_the_last_line_and_no_secret(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		want string
	}{
		"a_secret":            {map[string]string{"PW": "hunter2"}, "login with *** refused"},
		"part_of_another":     {map[string]string{"PW": "hunter2", "A": "hunt", "B": "nter2"}, "login with *** refused"},
		"ends_with_a_newline": {map[string]string{"PW": "hunter2\n"}, "login with *** refused"},
		"one_of_its_lines":    {map[string]string{"PW": "hunter2", "KEY": "begin\n refused\nend"}, "login with *** ***"},
		"short":               {map[string]string{"PW": "x"}, "login with x refused"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := shell(`echo first; echo login with $PW refused >&2; echo; exit 3`)
			spec.Env = c.env
			if got, want := run(t, spec).Detail, "exit status 3; the last line of its output: "+c.want; got != want {
				t.Errorf("Detail is %q, want %q", got, want)
			}
		})
	}
}
