package symsrv

import (
	"net"
	"net/url"
	"strings"
)

// known are public symbol servers that keep their files elsewhere: a question is answered with a redirect to a signed
// address there. Where a server of the first list is asked, its redirects to hosts of the second are followed, over
// https only; nobody else's are.
var known = []struct {
	owner   string
	servers []string
	stores  []string
}{
	{"Microsoft", []string{"msdl.microsoft.com"}, []string{"*.blob.core.windows.net", "*.vsblob.vsassets.io"}},
	{"Azure DevOps", []string{"artifacts.dev.azure.com", "*.artifacts.visualstudio.com"},
		[]string{"*.blob.core.windows.net", "*.vsblob.vsassets.io", "*.vsblob.visualstudio.com"}},
	{"NuGet", []string{"symbols.nuget.org"}, []string{"*.blob.core.windows.net", "*.vsblob.vsassets.io", "*.nuget.org"}},
	{"Mozilla", []string{"symbols.mozilla.org"}, []string{"storage.googleapis.com"}},
	{"Chromium", []string{"chromium-browser-symsrv.commondatastorage.googleapis.com"},
		[]string{"storage.googleapis.com", "commondatastorage.googleapis.com", "*.storage.googleapis.com"}},
}

// isStoreOf tells whether a known server keeps its files at an address.
func isStoreOf(server, address *url.URL) bool {
	if address.Scheme != "https" || portOf(address) != "443" {
		return false
	}
	for _, k := range known {
		if anyNames(k.servers, server) && anyNames(k.stores, address) {
			return true
		}
	}
	return false
}

func anyNames(entries []string, u *url.URL) bool {
	for _, entry := range entries {
		if names(entry, u.Hostname(), portOf(u)) != notNamed {
			return true
		}
	}
	return false
}

// A naming is how closely an entry of Options.Allow names a host.
type naming int

const (
	notNamed naming = iota
	namedByAll
	namedByDomain
	namedItself
)

// names tells how an entry ("host", "host:port", "*.domain", "*") names a host and port.
func names(entry, host, port string) naming {
	entry, host = strings.ToLower(strings.TrimSpace(entry)), strings.ToLower(strings.TrimSuffix(host, "."))
	if h, p, err := net.SplitHostPort(entry); err == nil {
		if p != port {
			return notNamed
		}
		entry = h
	}
	entry = strings.Trim(entry, "[]")
	domain, below := strings.CutPrefix(entry, "*.")
	switch {
	case entry == host:
		return namedItself
	case below && strings.HasSuffix(host, "."+domain):
		return namedByDomain
	case entry == "*":
		return namedByAll
	}
	return notNamed
}

// naming is how closely the list names a host and port.
func (o *Options) naming(host, port string) naming {
	closest := notNamed
	for _, entry := range o.Allow {
		closest = max(closest, names(entry, host, port))
	}
	return closest
}

// allowed tells whether a URL's host is on the allow-list.
func (o *Options) allowed(u *url.URL) bool { return o.naming(u.Hostname(), portOf(u)) != notNamed }

// notAllowed says that a host is not on the list, and how it comes onto it.
func notAllowed(host string) string {
	return host + " is not on the list of allowed servers; HEAPDRIFT_SYMBOL_SERVERS=" + host +
		" allows it (with commas between several)"
}
