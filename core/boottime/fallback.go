package boottime

import "time"

var start = time.Now()

// fallback is Go's monotonic clock: right but for suspends.
func fallback() time.Duration { return time.Since(start) }
