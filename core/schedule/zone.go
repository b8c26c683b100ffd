package schedule

import (
	"archive/zip"
	"bytes"
	"embed"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/agext/levenshtein"
)

// zoneFiles holds the IANA time zone database as it comes with Go (lib/time/zoneinfo.zip), and
// its version. Host files aren't used: two hosts may have different ones, and two instances
// would then disagree about slots.
//
//go:embed zoneinfo
var zoneFiles embed.FS

// ZoneDataVersion returns the version of the embedded time zone database, such as "2025c".
// Instances with different versions may disagree about slots.
func ZoneDataVersion() string {
	version, err := zoneFiles.ReadFile("zoneinfo/VERSION")
	if err != nil {
		return "unknown" // can't be: the file is embedded
	}
	return strings.TrimSpace(string(version))
}

// Zone is a time zone: what clocks on the wall show at each instant. It never changes and may
// be used concurrently.
type Zone struct {
	name     string
	location *time.Location
	periods  []period
}

// period is a span of time in which a zone has one offset. It ends where the next one starts.
type period struct {
	start  int64 // instant, seconds since the epoch
	offset int64 // what to add to an instant to get the reading, seconds
}

var (
	utc = &Zone{name: "UTC", location: time.UTC, periods: []period{{start: -never}}}
	// zones holds every zone that was loaded, by name: loading one is slow, and jobs share few.
	zones sync.Map
	// zoneIndex lists the embedded zones by name.
	zoneIndex = sync.OnceValues(readZoneIndex)
)

// UTC returns the zone without any changes.
func UTC() *Zone { return utc }

// LoadZone returns the zone of an IANA name, such as "Europe/Berlin", from the embedded
// database. A name that isn't in it, in any other spelling, is a [*ParseError]; so are "" and
// "Local", which would mean something else on each host.
func LoadZone(name string) (*Zone, error) {
	if name == utc.name {
		return utc, nil
	}
	if z, ok := zones.Load(name); ok {
		return z.(*Zone), nil //nolint:errcheck // only zones are stored
	}
	index, err := zoneIndex()
	if err != nil {
		return nil, zoneError(name, "the embedded time zone data can't be read: "+err.Error(), "reinstall anarchon")
	}
	file, ok := index[name]
	if !ok {
		return nil, unknownZone(name, index)
	}
	location, err := readZone(name, file)
	if err != nil {
		return nil, zoneError(name, "its embedded data can't be read: "+err.Error(), "reinstall anarchon")
	}
	z, _ := zones.LoadOrStore(name, &Zone{name: name, location: location, periods: periodsOf(location)})
	return z.(*Zone), nil //nolint:errcheck // only zones are stored
}

// String returns the zone's IANA name.
func (z *Zone) String() string { return z.name }

// Time returns the slot as the zone's clocks show it.
func (z *Zone) Time(s Slot) time.Time { return time.UnixMilli(int64(s)).In(z.location) }

// period returns the index of the period that holds the instant t.
func (z *Zone) period(t int64) int {
	low, high := 0, len(z.periods) // the period is in [low, high)
	for high-low > 1 {
		if mid := int(uint(low+high) >> 1); z.periods[mid].start <= t {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// end returns the instant at which period i ends.
func (z *Zone) end(i int) int64 {
	if i+1 < len(z.periods) {
		return z.periods[i+1].start
	}
	return never
}

// change returns by how many seconds the clock is put forward (back, if negative) at the start
// of period i.
func (z *Zone) change(i int) int64 {
	if i <= 0 || i >= len(z.periods) {
		return 0
	}
	return z.periods[i].offset - z.periods[i-1].offset
}

// periodsOf reads the zone's periods from firstYear to lastYear. It goes from end to end: the start
// that ZoneBounds returns can be wrong where a zone's file ends and its rule for the future begins
// (America/Ciudad_Juarez on 2022-11-30).
func periodsOf(location *time.Location) []period {
	var periods []period
	last := time.Date(lastYear+1, time.January, 1, 0, 0, 0, 0, time.UTC)
	for t := time.Date(firstYear, time.January, 1, 0, 0, 0, 0, time.UTC); t.Before(last); {
		_, seconds := t.In(location).Zone()
		switch offset, n := int64(seconds), len(periods); {
		case n == 0:
			periods = append(periods, period{start: -never, offset: offset})
		case periods[n-1].offset != offset:
			periods = append(periods, period{start: t.Unix(), offset: offset})
		}
		_, end := t.In(location).ZoneBounds()
		if end.IsZero() {
			break
		}
		if !end.After(t) {
			// golang/go#81583: on 31 December of a leap year the end can be wrong. No zone changes
			// within the two days that are stepped over.
			end = t.Add(48 * time.Hour)
		}
		t = end
	}
	return periods
}

func readZoneIndex() (map[string]*zip.File, error) {
	data, err := zoneFiles.ReadFile("zoneinfo/zoneinfo.zip")
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("unzip: %w", err)
	}
	index := make(map[string]*zip.File, len(archive.File))
	for _, f := range archive.File {
		if !strings.HasSuffix(f.Name, "/") {
			index[f.Name] = f
		}
	}
	return index, nil
}

func readZone(name string, file *zip.File) (*time.Location, error) {
	r, err := file.Open()
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	location, err := time.LoadLocationFromTZData(name, data)
	if err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	return location, nil
}

func zoneError(name, msg, hint string) error {
	return &ParseError{Field: "time_zone", Len: len(name), Value: name, Msg: msg, Hint: hint}
}

func unknownZone(name string, index map[string]*zip.File) error {
	const names = `write an IANA name, such as "Europe/Berlin" or "UTC"`
	switch {
	case name == "":
		return zoneError(name, "it is empty, which could mean UTC or the host's zone", names)
	case strings.EqualFold(name, "local"):
		return zoneError(name, "the host's zone may differ between instances, and their slots with it", names)
	}
	const msg = "it isn't a name in the IANA time zone database " // and its version
	if near := nearestZone(name, index); near != "" {
		return zoneError(name, msg+ZoneDataVersion(), fmt.Sprintf("did you mean %q?", near))
	}
	return zoneError(name, msg+ZoneDataVersion(), names)
}

// nearestZone returns the zone that was probably meant, or "".
func nearestZone(name string, index map[string]*zip.File) string {
	const longestName = 64 // longer ones aren't misspelt zones, and comparing them takes time
	if len(name) > longestName {
		return ""
	}
	plain := strings.ToLower(strings.ReplaceAll(name, " ", "_"))
	best, bestDistance := "", 4
	for candidate := range index {
		lower := strings.ToLower(candidate)
		distance := levenshtein.Distance(plain, lower, nil)
		if strings.HasSuffix(lower, "/"+plain) {
			distance = 1
		}
		// The order of a map is random: among equals the first name by alphabet is taken.
		if distance < bestDistance || distance == bestDistance && candidate < best {
			best, bestDistance = candidate, distance
		}
	}
	return best
}
