package jobfile

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// parseSize reads a size as "512B", "64KiB", "10MiB", "2GiB" or "1TiB": a whole number and a
// unit, without a blank.
func parseSize(text string) (int64, error) {
	unit := strings.TrimLeft(text, "0123456789")
	number := text[:len(text)-len(unit)]
	shift := 0
	switch unit {
	case "B":
	case "KiB":
		shift = 10
	case "MiB":
		shift = 20
	case "GiB":
		shift = 30
	case "TiB":
		shift = 40
	default:
		return 0, fmt.Errorf("%q isn't a unit; write a whole number with B, KiB, MiB, GiB or TiB, as \"64KiB\"", unit)
	}
	n, err := strconv.ParseInt(number, 10, 64)
	switch {
	case number == "":
		return 0, errors.New(`there is no number; write it as "64KiB"`)
	case err != nil || n > math.MaxInt64>>shift:
		return 0, errors.New("it is larger than anything that could be stored; write less")
	}
	return n << shift, nil
}
