package runner

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/job"
)

// searchPath is the PATH of every attempt.
const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// environment returns the attempt's whole environment, sorted. Nothing of the instance's own
// gets in but HOME, since it may hold secrets.
func (s Spec) environment(now time.Time) []string {
	deadline := ""
	if s.Timeout > 0 {
		deadline = now.Add(s.Timeout).UTC().Format(time.RFC3339Nano)
	}
	env := map[string]string{
		"PATH":  searchPath,
		"HOME":  home(),
		"LANG":  "C.UTF-8",
		"SHELL": "/bin/sh",
		"TZ":    "UTC",
	}
	maps.Copy(env, s.Env)
	env["ANARCHON_JOB"] = s.Run.Job
	env["ANARCHON_RUN"] = s.Run.String()
	env["ANARCHON_SLOT"] = strconv.FormatInt(int64(s.Run.Slot), 10)
	env["ANARCHON_SCHEDULED_AT"] = s.Run.Slot.Time().Format(time.RFC3339Nano)
	env["ANARCHON_ATTEMPT"] = strconv.Itoa(s.Attempt)
	env["ANARCHON_TRY"] = "1"
	env["ANARCHON_FENCE"] = fmt.Sprintf("%d.%d", s.Run.Slot, s.Attempt)
	env["ANARCHON_INSTANCE"] = s.Instance
	env["ANARCHON_TRIGGER"] = "schedule"
	env["ANARCHON_DEADLINE"] = deadline // empty when there is none: set all the same, for sh -u

	list := make([]string, 0, len(env))
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

// checkVariable refuses what can't be passed on, and what the loader would take as orders. It
// never shows the value.
func checkVariable(name, value string) error {
	switch {
	case !isVariable(name):
		return fmt.Errorf("exec: env: %.80q can't be a variable's name; use letters, digits and _", name)
	case job.ReservedVariable(name) != "":
		return fmt.Errorf("exec: env: %.80s %s", name, job.ReservedVariable(name))
	case strings.ContainsRune(value, 0):
		return fmt.Errorf("exec: env: the value of %.80s has a NUL byte, which no program can be given", name)
	}
	return nil
}

func isVariable(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z'
		digit := '0' <= c && c <= '9'
		if !letter && (i == 0 || !digit) {
			return false
		}
	}
	return name != ""
}

func home() string {
	if dir, err := os.UserHomeDir(); err == nil {
		return dir
	}
	return "/"
}
