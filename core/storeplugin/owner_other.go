//go:build !unix

package storeplugin

import "io/fs"

// trustedOwner has nothing to look at here: file modes don't tell owners.
func trustedOwner(fs.FileInfo) bool { return true }
