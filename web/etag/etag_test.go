package etag_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"heapdrift/web/etag"
)

var headers = []struct {
	header string
	known  bool // of the tag "abc"
}{
	{"", false}, {"*", true}, {" * ", true}, {`"abc"`, true}, {`W/"abc"`, true}, {`"x", W/"abc"`, true},
	{`"x","y" ,"abc"`, true}, {`"a,b", "abc"`, true},
	{`"x,abc"`, false}, {`"abcd"`, false}, {`abc`, false}, {`w/"abc"`, false}, {`"abc`, false}, {`"x" junk "abc"`, false},
	{`, ,"abc"`, true}, {`""`, false}, {`W/`, false},
}

func TestMatches(t *testing.T) {
	for _, test := range headers {
		for _, tag := range []string{`"abc"`, `W/"abc"`} {
			if got := etag.Matches(test.header, tag); got != test.known {
				t.Errorf("%s and %s: %v", test.header, tag, got)
			}
		}
	}
}

func TestKnown(t *testing.T) {
	tag := etag.OfBody([]byte("page"))
	if tag == etag.OfBody([]byte("other page")) || !strings.HasPrefix(tag, `W/"`) {
		t.Errorf("%s", tag)
	}
	for method, want := range map[string]bool{"GET": true, "HEAD": true, "POST": false} {
		r := httptest.NewRequestWithContext(t.Context(), method, "/", http.NoBody)
		r.Header.Add("If-None-Match", `"x"`)
		r.Header.Add("If-None-Match", tag)
		if etag.IsKnown(r, tag) != want {
			t.Errorf("%s: %v", method, !want)
		}
	}
}

// A tag in a list is found whatever follows it, and a header without the tag never matches.
func FuzzMatches(f *testing.F) {
	for _, test := range headers {
		f.Add(test.header)
	}
	f.Fuzz(func(t *testing.T, header string) {
		const tag = `W/"0123456789abcdef"`
		if got := etag.Matches(header, tag); got && !strings.Contains(header, `"0123456789abcdef"`) &&
			strings.Trim(header, " \t") != "*" {
			t.Errorf("%q names the tag", header)
		}
		if !etag.Matches(tag+", "+header, tag) {
			t.Errorf("the tag before %q is not found", header)
		}
	})
}
