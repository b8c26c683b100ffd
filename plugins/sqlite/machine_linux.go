package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// bootID returns the kernel's name for the machine's present boot.
func bootID() (string, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", pluginapi.Errorf(pluginapi.Unsupported, "configure", "%w; leases need the machine's boot id", err)
	}
	// In a time namespace CLOCK_BOOTTIME has an offset of its own, so leases couldn't be
	// compared with those of processes outside. A kernel without the file has no such thing.
	offsets, err := os.ReadFile("/proc/self/timens_offsets")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", pluginapi.Errorf(pluginapi.Unsupported, "configure", "%w; leases need the machine's own CLOCK_BOOTTIME", err)
	}
	if offset := bootOffset(string(offsets)); offset != "" {
		return "", pluginapi.Errorf(pluginapi.Unsupported, "configure",
			"this process is in a time namespace whose CLOCK_BOOTTIME is off by %s; leases need the machine's own", offset)
	}
	return strings.TrimSpace(string(id)), nil
}

// bootTime reads CLOCK_BOOTTIME.
func bootTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic("CLOCK_BOOTTIME, which every Linux since 2.6.39 has, can't be read: " + err.Error())
	}
	return time.Duration(t.Nano())
}

// networkFileSystems are those on which SQLite's locks, or the memory that its processes
// share, can't be trusted, by their number in statfs(2). FUSE may be anything, sshfs and
// virtiofs among it.
var networkFileSystems = map[int64]string{
	unix.NFS_SUPER_MAGIC:   "NFS",
	unix.SMB_SUPER_MAGIC:   "SMB",
	unix.SMB2_SUPER_MAGIC:  "SMB",
	unix.CIFS_SUPER_MAGIC:  "CIFS",
	unix.FUSE_SUPER_MAGIC:  "FUSE",
	unix.V9FS_MAGIC:        "9p",
	unix.CEPH_SUPER_MAGIC:  "Ceph",
	unix.AFS_SUPER_MAGIC:   "AFS",
	unix.CODA_SUPER_MAGIC:  "Coda",
	unix.NCP_SUPER_MAGIC:   "NCP",
	unix.OCFS2_SUPER_MAGIC: "OCFS2",
	0x0bd00bd0:             "Lustre",
	0x786f4256:             "vboxsf",
}

func networkFileSystem(dir string) (string, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return "", &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return networkFileSystems[int64(s.Type)&0xffffffff], nil //nolint:unconvert // its type differs between architectures
}

// createFile makes an empty file that only its owner can read, unless there is one: it holds
// tokens. It is mknod and not open, since closing a descriptor of the file would drop the
// locks that another store in this process has on it.
func createFile(path string) error {
	err := unix.Mknod(path, unix.S_IFREG|0o600, 0)
	if err != nil && !errors.Is(err, unix.EEXIST) {
		return &os.PathError{Op: "create", Path: path, Err: err}
	}
	return nil
}

// links is how many names the file has.
func links(info os.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink) //nolint:unconvert // its type differs between architectures
	}
	return 1
}
