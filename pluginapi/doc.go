// Package pluginapi is the contract between anarchon's core and a store plugin.
//
// # What a store is asked
//
// Every anarchon instance computes the same slots for a job: the instants at which its
// schedule says it is due. For each slot each instance sends the store one [Claim]: "is
// this (job, slot) mine?". The store answers [Won] to exactly one of them, for as long as
// its [Memory] lasts. That promise rests on one thing: looking whether the slot is taken and
// writing that it is now taken happen inside the store, as one indivisible step. No care on
// the client's side can replace it.
//
// A store that can only say who was first is a gate store ([Gate]) and implements [Store].
// A store that also keeps leases is a lease store ([Lease]) and implements [LeaseStore]: the
// winner holds the run until its lease ends, extends it with heartbeats, and writes its
// outcome with [LeaseStore.Finish]. When a holder dies, its lease ends and another
// instance's claim takes the run over: attempt 2, under another token.
//
// # Tokens
//
// A [Token] is a random value, made anew for each try to claim a slot, and kept for every
// re-send of that try. It does two things. It recognises the caller: a claim whose answer was
// lost is sent again with the same token, and the store that finds the run taken by that token
// answers Won again. And it fences: after a takeover the former holder's token matches no
// more, so its heartbeat and its finish are answered [Lost] and change nothing.
//
// # Answers and errors
//
// Everything that can be expected is a value: late, held by another, fenced. An error means
// that there is no answer. The error's [Code] says what its receiver may do; above all,
// [Unavailable] promises that nothing was executed and [Ambiguous] says that it may have
// been. When unsure, answer Ambiguous: the caller sends the same request with the same
// token again, which costs a round trip. The other mistake runs a job twice.
//
// # Clocks
//
// Whether a lease lives, and whether a claim is late or early, is decided on the store's
// clock alone, read inside the atomic step. No instant of that clock is ever compared with
// one of the core's: answers carry what is left of a lease, and the holder counts it down
// from the moment at which it sent the request.
//
// # Writing a plugin
//
// Implement [LeaseStore] (or [Store]), hand it to pluginserver.Serve in a main function, and
// run the conformance suite of package storetest against it. Package memstore is the
// reference: the whole behaviour in memory, on a clock that tests can set.
package pluginapi
