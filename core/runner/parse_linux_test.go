package runner

import (
	"bytes"
	"fmt"
	"testing"
)

// White-box, like the other fuzz tests: a process for each input would be slow.
func FuzzStatus(f *testing.F) {
	for _, seed := range []string{
		"1 (systemd) S 0 1 1 0 -1", "7 (a) b) R 5 6 4 3", "7 (\n) Z 5 7 5", "", ")", "1 () Z", "1 (x) S -1 y z w",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, name []byte) {
		_, _ = parseStatus(name) // it survives anything
		// The name of a process can't hide what follows.
		line := append(append([]byte("12 ("), name...), ") Z 34 56 78 0 -1 4194560"...)
		got, ok := parseStatus(line)
		if want := (status{dead: true, parent: 34, session: 78}); !ok || got != want {
			t.Errorf("%q: got %+v, %v; want %+v", line, got, ok, want)
		}
	})
}

func FuzzCapture(f *testing.F) {
	f.Add(uint(3), uint(100_000), uint(300_000))
	f.Add(uint(keepHead), uint(keepTail), uint(1))
	f.Add(uint(keepHead-1), uint(2), uint(keepTail))
	f.Add(uint(0), uint(1), uint(0))
	f.Fuzz(func(t *testing.T, a, b, c uint) {
		var all []byte
		var kept capture
		for i, size := range []uint{a, b, c} {
			part := bytes.Repeat(fmt.Appendf(nil, "%d-%d;", i, size), 100_000)[:size%300_000]
			if n, err := kept.Write(part); n != len(part) || err != nil {
				t.Fatalf("Write: %d of %d, %v", n, len(part), err)
			}
			all = append(all, part...)
		}
		head := all[:min(keepHead, len(all))]
		tail := all[max(len(head), len(all)-keepTail):]
		got := kept.output()
		if !bytes.Equal(got.Head, head) || !bytes.Equal(got.Tail, tail) || int(got.Dropped) != len(all)-len(head)-len(tail) {
			t.Errorf("got %d, %d dropped, %d; want %d, %d", len(got.Head), got.Dropped, len(got.Tail), len(head), len(tail))
		}
	})
}

func FuzzVariable(f *testing.F) {
	for _, seed := range []string{"PATH", "_", "A1", "1A", "a b", "é", "A=B", "LD_PRELOAD", "ANARCHON_JOB", "\x00"} {
		f.Add(seed, "value")
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		err := checkVariable(name, value)
		if err == nil && (name == "" || bytes.ContainsAny([]byte(name+value), "\x00") || bytes.ContainsAny([]byte(name), "= \n")) {
			t.Errorf("%q=%q is accepted", name, value)
		}
	})
}
