package pluginclient

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// writableByOthers are the mode bits that let others replace what we would run.
const writableByOthers = 0o022

// openBinary opens the plugin's file, and checks that it may be run. What is checked is the
// open file, and the open file is run: nothing can be swapped in between.
func openBinary(path, wantSHA256 string) (*os.File, error) {
	refuse := func(format string, args ...any) (*os.File, error) {
		return nil, &StartError{Path: path, Reason: fmt.Sprintf(format, args...), Permanent: true}
	}
	file, err := os.Open(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return refuse("there is no such file")
		}
		return refuse("%v", plainCause(err))
	}
	reason := checkFile(file)
	if reason == "" {
		reason = checkFolder(path)
	}
	if reason == "" && wantSHA256 != "" {
		reason = checkSum(file, wantSHA256)
	}
	if reason != "" {
		_ = file.Close() // only read
		return refuse("%s", reason)
	}
	return file, nil
}

// checkFile returns what speaks against running the file, or "".
func checkFile(file *os.File) string {
	info, err := file.Stat()
	switch {
	case err != nil:
		return err.Error()
	case info.IsDir():
		return "it is a directory; want the plugin's program"
	case !info.Mode().IsRegular():
		return fmt.Sprintf("it is no regular file (%s)", info.Mode().Type())
	case info.Mode()&0o111 == 0:
		return fmt.Sprintf("it isn't executable (mode %04o); chmod +x it if it is the plugin", info.Mode().Perm())
	case info.Mode()&writableByOthers != 0:
		return fmt.Sprintf("others may write to it (mode %04o), so anybody could replace it; chmod go-w it", info.Mode().Perm())
	}
	return ""
}

// checkFolder does the same for the folder, in which another file could be put in its place.
// A sticky folder, as /tmp, doesn't let others do that.
func checkFolder(path string) string {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err.Error()
	}
	folder := filepath.Dir(target)
	info, err := os.Stat(folder)
	switch {
	case err != nil:
		return err.Error()
	case info.Mode()&writableByOthers != 0 && info.Mode()&fs.ModeSticky == 0:
		return fmt.Sprintf("others may write to its directory %s (mode %04o), so anybody could replace it; chmod go-w it",
			folder, info.Mode().Perm())
	}
	return ""
}

func checkSum(file *os.File, want string) string {
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return err.Error()
	}
	if got := hex.EncodeToString(hash.Sum(nil)); !strings.EqualFold(got, want) {
		return fmt.Sprintf("its SHA-256 is %s, but %s is expected; install it again, or record the new sum if the change is yours", got, want)
	}
	return ""
}

// execPath returns the path by which the open file is run: that of its descriptor, where the
// system has such paths. A script is run by name, since its interpreter has to open it.
func execPath(file *os.File) string {
	start := make([]byte, 2)
	if _, err := file.ReadAt(start, 0); err == nil && string(start) == "#!" || runtime.GOOS != "linux" {
		return file.Name()
	}
	return fmt.Sprintf("/proc/self/fd/%d", file.Fd())
}

// execError says why the system refused to run the file.
func execError(path string, file *os.File, err error) *StartError {
	reason := "can't be run: " + plainCause(err).Error()
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		reason = fmt.Sprintf("it is no program for %s/%s%s", runtime.GOOS, runtime.GOARCH, archOf(file))
	case errors.Is(err, fs.ErrNotExist):
		reason = "can't be run: the interpreter or loader that it names isn't on this machine"
	case errors.Is(err, fs.ErrPermission):
		reason = "can't be run: permission denied; is its file system mounted noexec?"
	}
	return &StartError{Path: path, Reason: reason, Permanent: !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.ENOMEM)}
}

// archOf tells the architecture of an ELF file.
func archOf(file *os.File) string {
	program, err := elf.NewFile(file)
	if err != nil {
		return ", but some other file"
	}
	return fmt.Sprintf(", but for %s", strings.ToLower(strings.TrimPrefix(program.Machine.String(), "EM_")))
}

// plainCause cuts "open PATH:" and the like off, as the path is told anyway.
func plainCause(err error) error {
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		return pathError.Err
	}
	return err
}
