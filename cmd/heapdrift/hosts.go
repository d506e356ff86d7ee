//go:build !client

package main

import (
	"net"
	"strings"
)

// loopback are the names of this machine for itself.
var loopback = []string{"localhost", "127.0.0.1", "::1"}

// hostsFor are the hosts that a server on an address answers for; named is HEAPDRIFT_HOSTS. Only this machine reaches a
// loopback address, so that any other host name is one that a foreign site has given it; behind a proxy the name must
// be configured.
func hostsFor(address net.Addr, named string) []string {
	var hosts []string
	for name := range strings.SplitSeq(named, ",") {
		if name = strings.ToLower(strings.TrimSpace(name)); name != "" {
			hosts = append(hosts, name)
		}
	}
	at, ok := address.(*net.TCPAddr)
	switch {
	case !ok:
		return hosts
	case at.IP.IsLoopback():
		return append(hosts, append(loopback, at.IP.String())...)
	case len(hosts) > 0: // this machine asks for its health by address
		return append(hosts, loopback...)
	}
	return nil
}
