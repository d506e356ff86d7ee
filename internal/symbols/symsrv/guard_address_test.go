package symsrv

import (
	"net/http"
	"net/netip"
	"net/url"
	"testing"
)

func TestNamingCheck(t *testing.T) {
	for _, c := range []struct {
		address string
		least   naming // that a host must be named by to be asked there
	}{
		{"93.184.216.34", namedByAll},
		{"2606:2800:220:1::1", namedByAll},
		{"64:ff9b::5db8:d822", namedByAll}, // 93.184.216.34 behind NAT64
		{"10.1.2.3", namedByDomain},
		{"172.31.255.255", namedByDomain},
		{"172.32.0.0", namedByAll},
		{"192.168.1.1", namedByDomain},
		{"100.64.0.1", namedByDomain},
		{"fd12:3456::1", namedByDomain},
		{"::ffff:10.1.2.3", namedByDomain},
		{"64:ff9b::a01:203", namedByDomain},
		{"127.0.0.1", namedItself},
		{"127.255.0.1", namedItself},
		{"::1", namedItself},
		{"0.0.0.0", namedItself},
		{"::", namedItself},
		{"169.254.169.254", namedItself},
		{"::ffff:169.254.169.254", namedItself},
		{"64:ff9b::a9fe:a9fe", namedItself},
		{"100.100.100.200", namedItself},
		{"168.63.129.16", namedItself},
		{"fd00:ec2::254", namedItself},
		{"fe80::1%eth0", namedItself},
		{"224.0.0.1", namedItself},
		{"255.255.255.255", namedItself},
		{"2002:7f00:1::", namedItself},
	} {
		for n := namedByAll; n <= namedItself; n++ {
			if err := n.check("host", netip.MustParseAddr(c.address)); (err == nil) != (n >= c.least) {
				t.Errorf("%s, named %d: %v", c.address, n, err)
			}
		}
	}
}

// A proxy is asked for public addresses only, and for hosts that the allow-list names.
func TestGuardProxy(t *testing.T) {
	proxy := &url.URL{Scheme: "http", Host: "127.0.0.1:3128"}
	g := &guard{opt: &Options{Allow: []string{"*", "10.0.0.7"}}, through: http.ProxyURL(proxy)}
	for address, ok := range map[string]bool{
		"http://169.254.169.254/latest": false, "http://10.0.0.8": false, "http://10.0.0.7": true,
		"http://93.184.216.34": true, "http://name.example": true,
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if to, err := g.proxy(&http.Request{URL: u}); (err == nil) != ok || ok && to != proxy {
			t.Errorf("%s: %v %v", address, to, err)
		}
	}
}
