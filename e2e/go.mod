// The end-to-end tests, built only in the workspace: they use the plugins' test servers as they
// are in this tree.
module github.com/anarchon-scheduler/anarchon/e2e

go 1.26.0
