// Package fault lets tests break a plugin at the moments at which it hurts most: after the
// store has written and before the caller has heard of it.
//
// In normal builds [Point] does nothing and costs nothing. Built with the tag faultpoints it
// reads the variable ANARCHON_FAULT, a list such as
//
//	claim.before_reply=kill,once:/tmp/marker;finish.before_reply=hang
//
// where each entry is a point and what happens there: kill ends the process with SIGKILL,
// hang never returns. With once:FILE it happens only for the first process to create FILE.
//
// The points are claim.on_receive, claim.before_reply, finish.before_reply and
// heartbeat.before_reply.
package fault

// Env is the variable with the faults.
const Env = "ANARCHON_FAULT"
