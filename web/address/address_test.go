package address_test

import (
	"net/url"
	"testing"

	"heapdrift/web/address"
)

func TestAddresses(t *testing.T) {
	for got, want := range map[string]string{
		address.Run(7):                       "/runs/7",
		address.Project("a b?c#d%"):          "/projects/a%20b%3Fc%23d%25",
		address.Signature("ä", "sig1:0f/.."): "/projects/%C3%A4/signatures/sig1:0f%2F..",
		address.Kit("a b", url.Values{"scenario": {"s&"}, "image": {"my x.exe"}}): "/projects/a%20b/kit?image=my+x.exe&scenario=s%26",
		address.Compare("app", "", "", ""):                                        "/projects/app/compare",
		address.Compare("app", "a&b", "1", "2+3"):                                 "/projects/app/compare?base=1&head=2%2B3&scenario=a%26b",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
