package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// findProgram returns the path of the command's program. A name without a slash is looked up
// in the absolute directories of the attempt's PATH; one with a slash is relative to the
// working directory.
func findProgram(o *startOrder) (string, error) {
	if info, err := os.Stat(o.Dir); o.Dir != "" && (err != nil || !info.IsDir()) {
		return "", fmt.Errorf("the working directory %s doesn't exist, or can't be entered", o.Dir)
	}
	name := o.Command[0]
	if strings.ContainsRune(name, '/') {
		path := name
		if !filepath.IsAbs(path) {
			var err error
			if path, err = filepath.Abs(filepath.Join(o.Dir, path)); err != nil {
				return "", err
			}
		}
		return path, executable(path)
	}
	for dir := range strings.SplitSeq(pathOf(o.Env), ":") {
		path := filepath.Join(dir, name)
		if filepath.IsAbs(path) && executable(path) == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s isn't in PATH (%s); write its absolute path, or set PATH in env", name, pathOf(o.Env))
}

func pathOf(env []string) string {
	for _, variable := range env {
		if path, ok := strings.CutPrefix(variable, "PATH="); ok {
			return path
		}
	}
	return ""
}

func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a directory", path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s isn't a file", path)
	case info.Mode()&0o111 == 0:
		return fmt.Errorf("%s isn't executable (mode %04o); run: chmod +x %s", path, info.Mode().Perm(), path)
	}
	return nil
}
