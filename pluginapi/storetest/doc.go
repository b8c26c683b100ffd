// Package storetest is the conformance suite: it decides whether a store keeps the contract
// of package pluginapi.
//
// A store's own test calls [Run] with a [Target]; each check is a subtest named after the
// requirement, as Claim/second_token_loses. [Execute] runs the same checks without go test
// and returns a [Report]: `anarchon plugin test` does so with a plugin's binary.
//
// The suite knows no backend. It asks the store what it claims ([pluginapi.Info]) and holds
// it to that; what a store doesn't claim it must refuse. Every check uses jobs of its own, so
// the suite may run on a backend that holds other data, and runs there again and again. It
// never looks at a clock of its own to decide about a lease: it ends leases early through the
// contract and waits until the store says that they have ended.
//
// Checks have stable IDs in groups: S what a store decides, C its settings, F faults, and for
// binaries H the handshake and L the log; P measures and never fails.
//
// The suite is itself tested: package storetest's tests run it against stores that are broken
// in one way each, and require that exactly the checks fail that should.
package storetest
