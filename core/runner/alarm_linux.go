package runner

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// alarm fires once at an instant on CLOCK_BOOTTIME, which can be moved. Go's own timers stand
// still while the machine is suspended.
type alarm struct {
	fd int           // file's
	C  chan struct{} // size 1: that it has fired, perhaps more than once
}

func newAlarm() (*alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_BOOTTIME, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("timerfd_create: %w", err)
	}
	a := &alarm{fd: fd, C: make(chan struct{}, 1)}
	go a.wait(os.NewFile(uintptr(fd), "timerfd"))
	return a, nil
}

// wait lasts as long as the process.
func (a *alarm) wait(file *os.File) {
	var expirations [8]byte
	for {
		if _, err := file.Read(expirations[:]); err != nil {
			return
		}
		select {
		case a.C <- struct{}{}:
		default:
		}
	}
}

// set moves the alarm to at; 0 stops it. An instant that has passed fires at once.
func (a *alarm) set(at time.Duration) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(at.Nanoseconds())}
	_ = unix.TimerfdSettime(a.fd, unix.TFD_TIMER_ABSTIME, &spec, nil) // the descriptor is ours and open
}
