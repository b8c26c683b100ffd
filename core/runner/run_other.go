//go:build !linux

package runner

import (
	"context"
	"errors"
	"runtime"
)

// Run fails: the supervision of an attempt's processes needs Linux.
func Run(context.Context, Spec, Lease) (Result, error) {
	return Result{}, errors.New("commands can only be run on Linux; this is " + runtime.GOOS)
}

// IsShim returns false: there are no shims here.
func IsShim([]string) bool { return false }

// ShimMain is never called.
func ShimMain() int { return 1 }
