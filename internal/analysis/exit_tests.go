package analysis

import (
	"cmp"
	"slices"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/sorting"
)

// MaxExitTests is how many tests a report names with what they left. A suite may have more: then those with leaks come
// first, and the others are counted.
const MaxExitTests = 5000

// An ExitTest is what the lists of leaks at exit say of one test.
type ExitTest struct {
	Test    string `json:"test"`
	Leaks   int    `json:"leaks"`   // signatures with lost blocks; 0 of a test that ran and left none
	Certain int    `json:"certain"` // of them, those that are certain
	Lost    Amount `json:"lost"`
	// Whole says that the lists of the test lost nothing: it has no other leaks by these tools.
	Whole bool `json:"whole"`
}

// A testLeak is what one signature left in one test.
type testLeak struct {
	test, signature string
	kind            capture.Kind
	lost            Amount
	certain         bool
}

// listTestLeaks notes what sites left in which test.
func (d *draft) listTestLeaks() {
	s := d.series
	if s == nil || !slices.ContainsFunc(s.parts, func(p part) bool { return p.isList() && p.Test != "" }) {
		return
	}
	signatures := make([]string, len(s.order))
	for _, site := range d.sites {
		signatures[site.place] = site.signature
	}
	at := map[[2]string]int{}
	for p := range s.parts {
		part := &s.parts[p]
		if !part.isList() || part.Test == "" {
			continue
		}
		for i := range part.Sites {
			site := &part.Sites[i]
			if site.Reach == capture.ReachHeld || site.Usage[0] == (capture.Usage{}) {
				continue
			}
			key := [2]string{part.Test, signatures[s.places[p][i]]}
			k, ok := at[key]
			if !ok {
				k = len(d.testLeaks)
				at[key], d.testLeaks = k, append(d.testLeaks, testLeak{test: key[0], signature: key[1], kind: part.Kind})
			}
			l := &d.testLeaks[k]
			l.lost = l.lost.Plus(Amount{site.Usage[0].Count, site.Usage[0].Bytes})
			l.certain = l.certain || site.Reach != capture.ReachPossible
		}
	}
}

// listTests sums what was left by test. Of a signature that several tools list in a test, the amounts of the first
// count. Lines that were joined to a finding with a call stack count as that finding. Any other signature that is part
// of another finding by now counts where the test would have no leak without it: the other finding may be of another
// test.
func (d *draft) listTests() {
	of := make(map[string]string, len(d.findings)) // signatures of findings, by those of what is part of them
	for _, f := range d.findings {
		for _, j := range f.Joined {
			of[j.Signature] = f.Signature
		}
	}
	for _, f := range d.findings {
		of[f.Signature] = f.Signature
	}
	type counted struct {
		kind    capture.Kind
		certain bool
	}
	at, seen := map[string]int{}, map[[2]string]counted{}
	var tests []ExitTest
	testAt := func(name string) *ExitTest {
		k, ok := at[name]
		if !ok {
			k = len(tests)
			at[name], tests = k, append(tests, ExitTest{Test: name})
		}
		return &tests[k]
	}
	count := func(l *testLeak, signature string) {
		key := [2]string{l.test, signature}
		c, again := seen[key]
		if again && c.kind != l.kind {
			return
		}
		t := testAt(l.test)
		t.Lost = t.Lost.Plus(l.lost)
		if !again {
			t.Leaks++
		}
		if l.certain && !c.certain {
			t.Certain++
		}
		seen[key] = counted{l.kind, c.certain || l.certain}
	}
	var parts []*testLeak
	for i := range d.testLeaks {
		l := &d.testLeaks[i]
		if signature, ok := of[l.signature]; ok {
			count(l, signature)
		} else {
			parts = append(parts, l)
		}
	}
	parts = slices.DeleteFunc(parts, func(l *testLeak) bool { return testAt(l.test).Leaks > 0 })
	for _, l := range parts {
		count(l, l.signature)
	}
	for _, list := range d.report.ExitLists {
		for _, name := range list.Tests {
			testAt(name).Whole = true
		}
	}
	sorting.Unstable(tests, func(a, b ExitTest) int {
		return cmp.Or(cmp.Compare(b.Lost.Bytes, a.Lost.Bytes), cmp.Compare(b.Leaks, a.Leaks), strings.Compare(a.Test, b.Test))
	})
	if more := len(tests) - MaxExitTests; more > 0 {
		d.report.MoreExitTests, tests = more, tests[:MaxExitTests]
	}
	d.report.ExitTests = tests
}
