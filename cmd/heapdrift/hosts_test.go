package main

import (
	"net"
	"slices"
	"testing"
)

func TestHosts(t *testing.T) {
	for _, test := range []struct {
		listen, named string
		want          []string
	}{
		{"127.0.0.1", "", []string{"localhost", "127.0.0.1", "::1", "127.0.0.1"}},
		{"127.0.0.5", "", []string{"localhost", "127.0.0.1", "::1", "127.0.0.5"}},
		{"::1", " Leaks.example , ", []string{"leaks.example", "localhost", "127.0.0.1", "::1", "::1"}},
		{"0.0.0.0", "", nil},
		{"10.0.0.7", "leaks.example,leaks", []string{"leaks.example", "leaks", "localhost", "127.0.0.1", "::1"}},
	} {
		if got := hostsFor(&net.TCPAddr{IP: net.ParseIP(test.listen), Port: 8080}, test.named); !slices.Equal(got,
			test.want) {
			t.Errorf("%s, %q: %q, want %q", test.listen, test.named, got, test.want)
		}
	}
}
