package runner_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/anarchon-scheduler/anarchon/core/runner"
)

// roles are what this test binary can be besides the tests: a core that a test kills, and
// commands that do what a shell can't. Their first argument is the role.
var roles = map[string]func(args []string) error{
	"@core": coreRole,
	"@bomb": bombRole,
}

func TestMain(m *testing.M) {
	if runner.IsShim(os.Args) {
		os.Exit(runner.ShimMain())
	}
	if len(os.Args) > 1 && roles[os.Args[1]] != nil {
		if err := roles[os.Args[1]](os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, os.Args[1], err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, "goroutines are left:", err)
		code = 1
	}
	if left := children(os.Getpid()); len(left) > 0 && code == 0 {
		fmt.Fprintln(os.Stderr, "processes are left:", left)
		code = 1
	}
	os.Exit(code)
}

// children returns the ids of a process's children.
func children(pid int) []string {
	var all []string
	tasks := fmt.Sprintf("/proc/%d/task", pid)
	threads, _ := os.ReadDir(tasks)
	for _, thread := range threads {
		list, _ := os.ReadFile(tasks + "/" + thread.Name() + "/children")
		all = slices.AppendSeq(all, strings.FieldsSeq(string(list)))
	}
	return all
}
