package web

import (
	"net/http/httptest"
	"testing"
)

// Only what trusted proxies have appended to X-Forwarded-For says who a client is: a client that writes the header
// itself, from whatever network, stays who it is.
func TestClientAddress(t *testing.T) {
	for what, test := range map[string]struct {
		trust, remote string
		forwarded     []string
		want          string
	}{
		"no proxy is trusted":              {"", "10.0.0.9:1234", []string{"8.8.8.8"}, "10.0.0.9"},
		"none, as a count":                 {"0", "10.0.0.9:1234", []string{"8.8.8.8"}, "10.0.0.9"},
		"one in a row":                     {"1", "10.0.0.2:1", []string{"192.168.0.7"}, "192.168.0.7"},
		"one, and the client forges":       {"1", "10.0.0.2:1", []string{"10.9.9.9, 192.168.0.7"}, "192.168.0.7"},
		"one, in two headers":              {"1", "10.0.0.2:1", []string{"10.9.9.9", "192.168.0.7"}, "192.168.0.7"},
		"two in a row":                     {"2", "10.0.0.2:1", []string{"10.9.9.9, 192.168.0.7, 10.0.0.1"}, "192.168.0.7"},
		"two, of which one is passed by":   {"2", "10.0.0.2:1", []string{"192.168.0.7"}, "192.168.0.7"},
		"no header":                        {"1", "10.0.0.2:1", nil, "10.0.0.2"},
		"an entry that is no address":      {"1", "10.0.0.2:1", []string{"192.168.0.7, unknown"}, "10.0.0.2"},
		"a network":                        {"10.0.0.0/30", "10.0.0.2:1", []string{"10.9.9.9, 192.168.0.7, 10.0.0.1"}, "192.168.0.7"},
		"a client in a private network":    {"10.0.0.0/30", "10.0.0.2:1", []string{"10.9.9.9, 10.0.0.77"}, "10.0.0.77"},
		"a client beside the proxy":        {"10.0.0.2", "10.0.0.3:1", []string{"10.9.9.9"}, "10.0.0.3"},
		"an address and a network of IPv6": {"10.0.0.2, fd00::/64", "[fd00::2]:1", []string{"2001:db8::7"}, "2001:db8::7"},
		"an address with a port":           {"1", "10.0.0.2:1", []string{"192.168.0.7:51234"}, "192.168.0.7"},
		"an address of IPv6 with a port":   {"1", "10.0.0.2:1", []string{"[2001:db8::7]:51234"}, "2001:db8::7"},
		"IPv4 in IPv6":                     {"1", "10.0.0.2:1", []string{"::ffff:192.168.0.7"}, "192.168.0.7"},
		"the proxies alone":                {"10.0.0.0/8", "10.0.0.2:1", []string{"10.0.0.1"}, "10.0.0.1"},
	} {
		p, err := ParseProxies(test.trust)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
		r.RemoteAddr = test.remote
		for _, value := range test.forwarded {
			r.Header.Add("X-Forwarded-For", value)
		}
		if got := p.clientAddress(r); got != test.want {
			t.Errorf("%s: %s, want %s", what, got, test.want)
		}
	}
}

func TestParseProxies(t *testing.T) {
	for _, text := range []string{"-1", "17", "10.0.0.0/33", "proxy.local", "10.0.0.1,", "true", "::ffff:10.0.0.1", "::ffff:10.0.0.0/104"} {
		if p, err := ParseProxies(text); err == nil {
			t.Errorf("%q: %+v", text, p)
		}
	}
	for text, want := range map[string]bool{"": false, "0": false, "1": true, "16": true, "10.0.0.1": true, "10.0.0.0/8, ::1": true} {
		if p, err := ParseProxies(text); err != nil || p.Any() != want {
			t.Errorf("%q: %+v, %v", text, p, err)
		}
	}
}
