package pluginclient

import (
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hashicorp/go-plugin"

	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/handshake"
)

// maxAnswer is the most bytes of the handshake line; a certificate takes about 800.
const maxAnswer = 8 << 10

// answerLine finds the line with which a plugin answers the start:
//
//	1|1|unix|/run/anarchon/plugin-dir12/plugin34|grpc|MIIB...
//
// go-plugin's version, ours, where to dial, and a certificate.
var answerLine = regexp.MustCompile(`^[0-9]{1,9}\|[0-9]{1,9}\|[a-z0-9]+\|`)

func isAnswer(line string) bool { return len(line) <= maxAnswer && answerLine.MatchString(line) }

// checkAnswer returns why the plugin can't be used, or "". Everything that the plugin could
// say is judged here, before go-plugin acts on it: it would dial any address.
func checkAnswer(line, dir string, tls bool) string {
	parts := append(strings.Split(line, "|"), "", "", "")
	if parts[0] != fmt.Sprint(plugin.CoreProtocolVersion) {
		return fmt.Sprintf("it was built with version %s of go-plugin's handshake; want %d", parts[0], plugin.CoreProtocolVersion)
	}
	if parts[1] != fmt.Sprint(handshake.Protocol) {
		return fmt.Sprintf("it speaks version %s of the plugin protocol, this anarchon speaks version %d; install versions that fit",
			parts[1], handshake.Protocol)
	}
	if parts[4] != "grpc" {
		return fmt.Sprintf("it speaks %q; want grpc", parts[4])
	}
	if reason := checkAddress(parts[2], parts[3], dir); reason != "" {
		return reason
	}
	if !tls {
		return ""
	}
	der, err := base64.RawStdEncoding.DecodeString(parts[5])
	if err == nil {
		_, err = x509.ParseCertificate(der)
	}
	switch {
	case parts[5] == "":
		return "it offers no certificate for TLS; allow plain text for this plugin, or use one that offers it"
	case err != nil:
		return fmt.Sprintf("its certificate for TLS can't be read: %v", err)
	}
	return ""
}

// checkAddress allows only a socket within the directory made for this plugin, which nobody
// else can enter.
func checkAddress(network, address, dir string) string {
	if network != "unix" {
		return fmt.Sprintf("it listens on %s %q; only a unix socket in %s is allowed", network, address, dir)
	}
	if filepath.Dir(filepath.Clean(address)) != filepath.Clean(dir) {
		return fmt.Sprintf("it listens on %q, outside of the directory %s made for it", address, dir)
	}
	if info, err := os.Lstat(address); err != nil || info.Mode().Type() != os.ModeSocket {
		return fmt.Sprintf("it says that it listens on %q, which is no socket", address)
	}
	return ""
}
