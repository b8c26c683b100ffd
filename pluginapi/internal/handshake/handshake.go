// Package handshake holds what both ends of a plugin's start have to agree on.
package handshake

import "github.com/hashicorp/go-plugin"

const (
	// CookieKey is the variable that tells a plugin that anarchon starts it. It keeps people
	// from running plugins by hand; it is no secret, and never changes.
	CookieKey = "ANARCHON_PLUGIN"
	// CookieValue is what the variable holds.
	CookieValue = "6d0c5b1e9f7a4e2cb83f10d7a95e42c6"
	// Protocol is the major version of the protocol, as in the package anarchon.plugin.v1.
	Protocol = 1
	// LogLevel is the variable that holds the first log level, as slog writes levels.
	LogLevel = "ANARCHON_LOG_LEVEL"
	// MaxMessage is the most bytes of a request or an answer: what gRPC servers of every
	// language allow without being told.
	MaxMessage = 4 << 20
)

// Config returns the handshake as go-plugin wants it.
func Config() plugin.HandshakeConfig {
	return plugin.HandshakeConfig{
		ProtocolVersion:  Protocol,
		MagicCookieKey:   CookieKey,
		MagicCookieValue: CookieValue,
	}
}
