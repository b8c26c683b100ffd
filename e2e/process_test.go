//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// children returns the pids of all descendants of pid, from /proc.
func children(pid int) []int {
	var found []int
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, task := range tasks {
		data, err := os.ReadFile(task)
		if err != nil {
			continue // the process has ended
		}
		for _, field := range strings.Fields(string(data)) {
			child, err := strconv.Atoi(field)
			if err != nil {
				continue
			}
			found = append(found, child)
			found = append(found, children(child)...)
		}
	}
	return found
}

// findPlugin returns the pid of the plugin process that pid has started.
func findPlugin(pid int) (int, error) {
	for _, child := range children(pid) {
		exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", child))
		if err == nil && strings.HasPrefix(filepath.Base(exe), "anarchon-plugin-") {
			return child, nil
		}
	}
	return 0, fmt.Errorf("process %d has no plugin process", pid)
}

func pluginOf(t testing.TB, i *instance) int {
	t.Helper()
	pid, err := findPlugin(i.pid())
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// alive tells whether pid runs: it exists and isn't a zombie.
func alive(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(data), ") ")
	return !strings.HasPrefix(after, "Z") && !strings.HasPrefix(after, "X")
}
