package debugdiag

import (
	"io"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// bitwise is a source that gives little at a time, as an upload does.
type bitwise struct{ r io.Reader }

func (b bitwise) Read(p []byte) (int, error) { return b.r.Read(p[:min(len(p), 4096)]) }

// A text of 16 MiB is read. A longer one ends the page, which then counts as cut.
func TestTextsOfAPage(t *testing.T) {
	for size, whole := range map[int]bool{16<<20 - 8192: true, 16<<20 + 8192: false} {
		r := newReport()
		r.page.read(bitwise{strings.NewReader("<html><p>" + strings.Repeat("x", size) + "</p></html>")})
		if r.page.ended != whole {
			t.Errorf("a text of %d bytes: the page is whole: %t", size, r.page.ended)
		}
	}
}

// Sections lie 64 deep in each other. The div of a further one is none, and its end closes no section.
func TestSectionsInEachOther(t *testing.T) {
	for _, n := range []int{63, 64, 65, 70} {
		r := newReport()
		p := &r.page
		p.z = html.NewTokenizer(strings.NewReader(strings.Repeat(`<div data-debug-details="x">`, n) + strings.Repeat("</div>", n)))
		for range n {
			p.z.Next()
			p.start()
		}
		if len(p.sections) != min(n, 64) || len(r.open) != min(n, 64) {
			t.Errorf("%d: %d sections and %d scopes are open", n, len(p.sections), len(r.open))
		}
		for i := range n {
			p.z.Next()
			p.end()
			if left := min(n-1-i, 64); len(p.sections) != left || len(r.open) != left {
				t.Errorf("%d: after %d ends %d sections and %d scopes are open", n, i+1, len(p.sections), len(r.open))
			}
		}
	}
}

// The section of a dump ends it where its own end came. Sections of other kinds, and one that names no dump, do not.
func TestDumpThatEnds(t *testing.T) {
	for _, test := range []struct {
		kind, dump   string
		whole        bool
		begun, ended bool
	}{
		{"dump", "a.dmp", true, true, true}, {"Dump", "a.dmp", true, true, true}, {"dump", "a.dmp", false, true, false},
		{"rule", "a.dmp", true, false, false}, {"", "a.dmp", true, false, false}, {"dump", "", true, false, false},
	} {
		r := newReport()
		s := section{kind: test.kind, dump: test.dump}
		r.startSection(s)
		r.endSection(s, test.whole)
		d := r.draftOf("a.dmp")
		if d.begun != test.begun || d.ended != test.ended || r.hooked != (test.kind != "") || len(r.open) != 0 {
			t.Errorf("%+v: begun %t, ended %t, hooked %t, %d open", test, d.begun, d.ended, r.hooked, len(r.open))
		}
		if current := test.kind != "" && test.dump != ""; (r.current != nil) != current {
			t.Errorf("%+v: a dump is current: %t", test, r.current != nil)
		}
	}
}
