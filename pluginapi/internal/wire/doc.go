// Package wire translates between the types of pluginapi and their protobuf form.
//
// The other side is another process, maybe of another version or with faults. What it says
// is therefore checked on the way in: a result list of the wrong length, a verdict that isn't
// one, or a lease of a thousand years becomes an Internal error, never a value that the core
// would act on. Text is cut to a sane length, and numbers saturate instead of wrapping around.
//
// Durations travel as whole milliseconds. What limits somebody's rights is rounded against
// them: what is left of a lease down, how long to wait up. A requested lease is rounded away
// from zero, since zero gives the run up.
package wire
