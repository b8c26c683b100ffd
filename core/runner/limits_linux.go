package runner

import "time"

// limits is until when a command may run. It is pure: it gets the time and says what to do.
// Instants are on CLOCK_BOOTTIME, and 0 is never.
type limits struct {
	timeout   time.Duration // the instant at which the command has had its time
	deadline  time.Duration // the instant at which the tree must be dead, by the lease
	grace     time.Duration // how long before deadline the command is told to stop
	killAfter time.Duration // how long the command has once it was told to stop
	stopped   reason        // why it was told to stop; "" while it wasn't
	kill      time.Duration // the instant of SIGKILL, once it was told to stop
}

// action is what a limit asks for.
type action int

const (
	nothing action = iota
	terminate
	kill
)

// extend moves the lease's deadline on.
func (l *limits) extend(deadline time.Duration) { l.deadline = deadline }

// order tells the command to stop because the core wants it.
func (l *limits) order(now time.Duration) action { return l.stop(byOrder, now+l.killAfter) }

// orphan ends the command at once: the core is gone.
func (l *limits) orphan(now time.Duration) action {
	l.stopped, l.kill = byOrphan, now
	return kill
}

// due returns what is to be done now. Once it is kill, it stays so.
func (l *limits) due(now time.Duration) action {
	if l.stopped != "" {
		if now >= l.next() {
			return kill
		}
		return nothing
	}
	switch {
	case l.deadline > 0 && now >= l.deadline:
		l.stop(byLease, l.deadline)
		return kill
	case l.timeout > 0 && now >= l.timeout:
		return l.stop(byTimeout, now+l.killAfter)
	case l.deadline > 0 && now >= l.deadline-l.grace:
		return l.stop(byLease, l.deadline)
	}
	return nothing
}

// next returns when to ask again; 0 is never. An extension can come too late to save a command
// that was told to stop, but it never shortens what is left to it.
func (l *limits) next() time.Duration {
	if l.stopped != "" {
		return earlier(l.kill, l.deadline)
	}
	stop := l.deadline
	if stop > 0 {
		stop = max(1, stop-l.grace)
	}
	return earlier(l.timeout, stop)
}

func (l *limits) stop(why reason, kill time.Duration) action {
	if l.stopped != "" {
		return nothing
	}
	l.stopped, l.kill = why, kill
	return terminate
}

// earlier returns the earlier of two instants.
func earlier(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}
