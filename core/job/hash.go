package job

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"maps"
	"slices"
	"time"
)

// Hash returns 32 hexadecimal digits over everything that changes what the job does: two
// instances whose jobs of a name have different hashes don't run the same configuration, and
// a reload leaves alone the jobs whose hashes didn't change. The description isn't part of
// it. The same job has the same hash in every process and every build that reads the same
// settings.
func (j *Job) Hash() string {
	d := digest{sha256.New()}
	d.text("anarchon job 1", j.Name, j.Store)
	d.flag(j.Enabled)
	dst := j.Schedule.DST()
	d.text(j.Schedule.String(), j.Schedule.Zone().String(), string(dst.Gap), string(dst.Overlap))
	d.durations(j.Jitter, j.MaxLate, j.Lease, j.Heartbeat, j.Timeout, j.KillAfter)
	d.text(string(j.Overlap), string(j.OnLost))
	d.number(int64(j.MaxAttempts))
	d.number(int64(len(j.Exec.Command)))
	d.text(j.Exec.Command...)
	d.text(j.Exec.Dir)
	for _, name := range slices.Sorted(maps.Keys(j.Exec.Env)) {
		d.text(name, j.Exec.Env[name])
	}
	return hex.EncodeToString(d.Sum(nil)[:16])
}

// digest takes values one by one. Texts carry their length, so that no two lists of values
// read the same.
type digest struct{ hash.Hash }

func (d digest) number(n int64) {
	d.Write(binary.BigEndian.AppendUint64(nil, uint64(n)))
}

func (d digest) text(texts ...string) {
	for _, s := range texts {
		d.number(int64(len(s)))
		d.Write([]byte(s))
	}
}

func (d digest) durations(durations ...time.Duration) {
	for _, v := range durations {
		d.number(int64(v))
	}
}

func (d digest) flag(b bool) {
	n := int64(0)
	if b {
		n = 1
	}
	d.number(n)
}
