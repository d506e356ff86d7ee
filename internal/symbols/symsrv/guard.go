package symsrv

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"syscall"
)

// closed are networks that a public symbol server has no address in: what a name on the list leads there is a trap, or
// another network's. The first that holds an address says what that is.
var closed = []struct {
	prefix  string
	what    string
	private bool // an own server may well be there
}{
	{"127.0.0.0/8", "an address of this machine", false},
	{"::1/128", "an address of this machine", false},
	{"0.0.0.0/8", "an address of this machine", false},
	{"::/128", "an address of this machine", false},
	{"169.254.0.0/16", "a link-local address, where clouds keep the secrets of machines", false},
	{"168.63.129.16/32", "an address at which Azure keeps the secrets of machines", false},
	{"100.100.100.200/32", "an address at which a cloud keeps the secrets of machines", false},
	{"fd00:ec2::254/128", "an address at which a cloud keeps the secrets of machines", false},
	{"fe80::/10", "a link-local address", false},
	{"224.0.0.0/4", "a multicast address", false},
	{"ff00::/8", "a multicast address", false},
	{"240.0.0.0/4", "a reserved address", false},
	{"192.0.0.0/24", "a reserved address", false},
	{"2002::/16", "an address of a tunnel", false},
	{"2001::/32", "an address of a tunnel", false},
	{"10.0.0.0/8", "a private address", true},
	{"172.16.0.0/12", "a private address", true},
	{"192.168.0.0/16", "a private address", true},
	{"100.64.0.0/10", "a private address", true},
	{"198.18.0.0/15", "a private address", true},
	{"fc00::/7", "a private address", true},
	{"fec0::/10", "a private address", true},
}

var closedPrefixes = sync.OnceValue(func() []netip.Prefix {
	list := make([]netip.Prefix, len(closed))
	for i, c := range closed {
		list[i] = netip.MustParsePrefix(c.prefix)
	}
	return list
})

// nat64 is the prefix of IPv4 addresses in networks that have IPv6 only (RFC 6052).
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// An addressError says that a host's address is not asked.
type addressError struct{ host, address, what string }

func (e *addressError) Error() string {
	return fmt.Sprintf("%s is at %s, %s, which is not asked; if that is your own server, HEAPDRIFT_SYMBOL_SERVERS=%s names it", e.host, e.address, e.what, e.host)
}

// check says whether a host that the list names so may be asked at an address.
func (n naming) check(host string, address netip.Addr) error {
	address = address.Unmap().WithZone("")
	if nat64.Contains(address) {
		b := address.As16()
		address = netip.AddrFrom4([4]byte(b[12:]))
	}
	for i, prefix := range closedPrefixes() {
		if !prefix.Contains(address) {
			continue
		}
		if n == namedItself || n == namedByDomain && closed[i].private {
			return nil
		}
		return &addressError{host, address.String(), closed[i].what}
	}
	return nil
}

// A guard keeps questions inside of what the list allows when names have become addresses: a name that leads elsewhere
// the second time leads nowhere.
type guard struct {
	opt     *Options
	dialer  net.Dialer
	through func(*http.Request) (*url.URL, error)
	proxies sync.Map // host:port of proxies: whoever runs this machine has named them
}

// proxy is http.Transport's Proxy. A proxy asks for names itself and decides about them; addresses are judged here.
func (g *guard) proxy(r *http.Request) (*url.URL, error) {
	u, err := g.through(r)
	if u == nil || err != nil {
		return u, err
	}
	host := r.URL.Hostname()
	if address, err := netip.ParseAddr(host); err == nil {
		if err := g.opt.naming(host, portOf(r.URL)).check(host, address); err != nil {
			return nil, err
		}
	}
	port := portOf(u)
	if u.Scheme == "socks5" || u.Scheme == "socks5h" {
		port = "1080"
		if p := u.Port(); p != "" {
			port = p
		}
	}
	g.proxies.Store(net.JoinHostPort(u.Hostname(), port), true)
	return u, nil
}

// dial is http.Transport's DialContext.
func (g *guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := g.dialer
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("symsrv: %w", err)
	}
	if _, ok := g.proxies.Load(address); !ok {
		named := g.opt.naming(host, port)
		dialer.ControlContext = func(_ context.Context, _, resolved string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(resolved)
			if err != nil {
				return fmt.Errorf("symsrv: %w", err)
			}
			return named.check(host, at.Addr())
		}
	}
	return dialer.DialContext(ctx, network, address)
}
