package timing

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// watchClock calls stepped whenever the wall clock was set, also by the kernel after a sleep, until
// ctx ends. On an error it can't go on.
//
// A timer of the kernel that never fires is cancelled by each step (timerfd_create(2),
// TFD_TIMER_CANCEL_ON_SET). Go's poller waits for it: no thread is held.
func watchClock(ctx context.Context, stepped func()) error {
	fd, err := unix.TimerfdCreate(unix.CLOCK_REALTIME, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("timerfd_create: %w", err)
	}
	timer := os.NewFile(uintptr(fd), "timerfd")
	defer func() { _ = timer.Close() }()
	defer context.AfterFunc(ctx, func() { _ = timer.SetReadDeadline(time.Unix(1, 0)) })()

	never := unix.ItimerSpec{Value: unix.Timespec{Sec: 1 << 33}} // the year 2242
	var expirations [8]byte
	for {
		if err := unix.TimerfdSettime(fd, unix.TFD_TIMER_ABSTIME|unix.TFD_TIMER_CANCEL_ON_SET, &never, nil); err != nil {
			return fmt.Errorf("timerfd_settime: %w", err)
		}
		_, err := timer.Read(expirations[:])
		if ctx.Err() != nil {
			return nil
		}
		if !errors.Is(err, unix.ECANCELED) {
			return fmt.Errorf("read timerfd: %w", err)
		}
		stepped()
	}
}
