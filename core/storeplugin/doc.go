// Package storeplugin gives the core a store that lives in a plugin: a process that this
// package finds, starts, watches, and starts again when it has died.
//
// # The states of a plugin
//
//	starting ─▶ configuring ─▶ ready ◀─▶ degraded
//	    ▲           │            │           │
//	    └─ backoff ◀┴────────────┴───────────┤ the process ended, or hangs
//	           quarantined ◀─────────────────┘ a cause that a restart can't cure
//
// Degraded is a plugin that works and whose backend doesn't: calls go through and get the
// backend's errors, and the process is left alone. A process that ends is started again, at
// once the first time and then after growing pauses, for ever: an instance without a leader
// to help it must come back by itself. A process that doesn't answer three pings in a row is
// killed. Quarantined is for settings that are wrong, a program that isn't a plugin or not the
// expected one, and a store that broke the contract (see below): it is tried again when the
// plugin's file changes, or when the Store is opened anew.
//
// # Calls
//
// Claims, heartbeats and finishes are gathered into batches, each kind in its own queue: a
// thousand claims at the full hour can't hold up the heartbeats that keep leases alive.
//
// While the plugin isn't up, a call waits for it until its context ends and is then
// Unavailable: it was never sent. A call that was sent and whose process died is Ambiguous. The
// caller sends it again with the same token, and the new process asks the same backend, which
// knows the token; so a plugin may be killed at any instant. Nothing else depends on the
// process: no run, lease or token ends with it.
//
// # A store that can't be right
//
// The core believes its plugins, but not against evidence. Two wins of one attempt of a run
// under two tokens, an attempt below one that was won before, or a verdict that the contract
// doesn't have there, mean that the store's promise is broken. The plugin is then stopped and
// quarantined rather than trusted with more claims.
package storeplugin
