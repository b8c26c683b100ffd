package pluginapi

import "time"

// MaxLease is the longest lease that a store must be able to keep.
const MaxLease = 365 * 24 * time.Hour

// Check returns what is wrong with the claim itself, as an [Invalid] error, or nil. Every
// store answers such a claim with it and writes nothing; pluginserver does so on its behalf.
func (c Claim) Check() *Error {
	if err := checkRun("claim", c.Job, c.Slot, c.Token); err != nil {
		return err
	}
	switch {
	case len(c.Instance) > 128:
		return Errorf(Invalid, "claim", "instance: %d bytes; at most 128 are allowed", len(c.Instance))
	case c.Lease < time.Millisecond || c.Lease > MaxLease:
		return Errorf(Invalid, "claim", "lease %s: want from 1ms to %s", c.Lease, MaxLease)
	case c.MaxLate < 0:
		return Errorf(Invalid, "claim", "max_late %s is negative", c.MaxLate)
	case c.MaxAttempts < 1:
		return Errorf(Invalid, "claim", "max_attempts %d: want at least 1", c.MaxAttempts)
	case c.Overlap != OverlapSkip && c.Overlap != OverlapAllow:
		return Errorf(Invalid, "claim", "overlap %d isn't a rule of this contract", c.Overlap)
	}
	return nil
}

// Check returns what is wrong with the heartbeat itself, as an [Invalid] error, or nil.
func (h Heartbeat) Check() *Error {
	if err := checkRun("heartbeat", h.Job, h.Slot, h.Token); err != nil {
		return err
	}
	if h.Lease != 0 && (h.Lease < time.Millisecond || h.Lease > MaxLease) {
		return Errorf(Invalid, "heartbeat", "lease %s: want 0, or from 1ms to %s", h.Lease, MaxLease)
	}
	return nil
}

// Check returns what is wrong with the finish itself, as an [Invalid] error, or nil.
func (f Finish) Check() *Error {
	if err := checkRun("finish", f.Job, f.Slot, f.Token); err != nil {
		return err
	}
	if f.Outcome.String() == "" {
		return Errorf(Invalid, "finish", "outcome %d isn't one of this contract", f.Outcome)
	}
	return nil
}

// checkRun checks what names a run and its holder. The message never shows the token.
func checkRun(op, job string, slot Slot, token Token) *Error {
	if !ValidJob(job) {
		return Errorf(Invalid, op, "job %.140q: want 1 to 128 bytes of a-z 0-9 . _ : -, the first a letter or digit", job)
	}
	if slot <= 0 {
		return Errorf(Invalid, op, "slot %d: want milliseconds since 1970, greater than 0", slot)
	}
	if len(token) == 0 || len(token) > 128 {
		return Errorf(Invalid, op, "token: %d bytes; want 1 to 128", len(token))
	}
	for i := range len(token) {
		if token[i] <= ' ' || token[i] > '~' {
			return Errorf(Invalid, op, "token: byte %d isn't printable ASCII", i)
		}
	}
	return nil
}

// ValidJob tells whether name may name a job: 1 to 128 bytes of a-z 0-9 . _ : -, the first a
// letter or digit.
func ValidJob(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
		case i > 0 && (c == '.' || c == '_' || c == ':' || c == '-'):
		default:
			return false
		}
	}
	return len(name) >= 1 && len(name) <= 128
}
