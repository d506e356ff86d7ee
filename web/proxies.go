package web

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"
)

// Proxies are the proxies in front of a server whose X-Forwarded-For is trusted: by their networks, or by how many of
// them stand in a row (Hops). The zero value is none.
type Proxies struct {
	Hops     int
	Networks []netip.Prefix
}

// maxHops is how many proxies may stand in a row.
const maxHops = 16

// ParseProxies reads what HEAPDRIFT_TRUST_PROXY says: a count of proxies in a row, or addresses and networks in CIDR
// form, separated by commas. "" and 0 are none.
func ParseProxies(text string) (Proxies, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return Proxies{}, nil
	}
	if hops, err := strconv.Atoi(text); err == nil {
		if hops < 0 || hops > maxHops {
			return Proxies{}, fmt.Errorf("%d proxies in a row: at most %d", hops, maxHops)
		}
		return Proxies{Hops: hops}, nil
	}
	var p Proxies
	for field := range strings.SplitSeq(text, ",") {
		field = strings.TrimSpace(field)
		network, err := netip.ParsePrefix(field)
		if err != nil {
			address, err := netip.ParseAddr(field)
			if err != nil {
				return Proxies{}, fmt.Errorf("%q is neither a count of proxies, such as 1, nor an address or network, such as 10.0.0.0/8", field)
			}
			network = netip.PrefixFrom(address, address.BitLen())
		}
		if at := network.Addr(); at.Is4In6() {
			return Proxies{}, fmt.Errorf("%q: write the address as IPv4", field)
		}
		p.Networks = append(p.Networks, network.Masked())
	}
	return p, nil
}

// Any reports whether a proxy is trusted.
func (p Proxies) Any() bool { return p.Hops > 0 || len(p.Networks) > 0 }

// clientAddress is the address that a request comes from. Each proxy appends the address that it sees to
// X-Forwarded-For, and whoever sends the request writes what stands before: only the entries at the end that trusted
// proxies have written count. An entry that is no address ends the search.
func (p Proxies) clientAddress(r *http.Request) string {
	direct := echo.ExtractIPDirect()(r)
	if !p.Any() {
		return direct
	}
	entries := strings.Split(strings.Join(r.Header.Values(echo.HeaderXForwardedFor), ","), ",")
	client := direct
	for hop := 0; p.trusts(client, hop) && len(entries) > 0; hop++ {
		last := strings.TrimSpace(entries[len(entries)-1])
		entries = entries[:len(entries)-1]
		seen, err := netip.ParseAddr(strings.Trim(withoutPort(last), "[]"))
		if err != nil {
			break
		}
		client = seen.Unmap().String()
	}
	return client
}

// withoutPort is an entry without the port that some proxies append.
func withoutPort(entry string) string {
	if host, _, err := net.SplitHostPort(entry); err == nil {
		return host
	}
	return entry
}

// trusts reports whether an address is that of a proxy, which stands so many hops in front of the first one.
func (p Proxies) trusts(address string, hop int) bool {
	if p.Hops > 0 {
		return hop < p.Hops
	}
	at, err := netip.ParseAddr(address)
	if err != nil {
		return false
	}
	at = at.Unmap().WithZone("")
	for _, network := range p.Networks {
		if network.Contains(at) {
			return true
		}
	}
	return false
}
