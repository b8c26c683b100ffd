// Package testserver runs the servers that tests of stores need: each one private, on loopback,
// in a directory of its own, and gone with the test. It also has a [Proxy], which loses
// connections and replies at the worst moments.
//
// A test that lacks its server is skipped, unless ANARCHON_TEST_REQUIRE is 1: then it fails.
package testserver
