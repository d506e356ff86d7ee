package store_test

import (
	"fmt"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/store"
)

// Signatures that never leaked or grew have the figures of the newest build that shows them, as all others have them,
// and are listed by the class that is among these.
func TestFiguresOfWhatNeverWasBad(t *testing.T) {
	const oneTime, transient = analysis.ClassOneTime, analysis.ClassTransient
	l := newLab(t)
	l.run("1/soak", leaksReport(finding{signature: "A", class: cache, bytes: 1},
		finding{signature: "B", class: cache, bytes: 2}, finding{signature: "L", class: leak, bytes: 9}))
	l.run("3/smoke", leaksReport(finding{signature: "A", class: cache, bytes: 30},
		finding{signature: "C", class: oneTime}))
	l.run("3/soak", leaksReport(finding{signature: "A", class: stable, bytes: 31},
		finding{signature: "L", class: stable, bytes: 7}))
	l.run("2/soak", leaksReport(finding{signature: "A", class: transient, bytes: 20},
		finding{signature: "B", class: stable, bytes: 21}))
	for signature, want := range map[string]string{
		"A": "cache 0.1 1030 in smoke 3",
		"B": "stable 0.1 1021 in soak 2",
		"C": "one-time 0.1 1000 in smoke 3",
		"L": "stable 0.1 1007 in soak 3",
	} {
		history, err := l.now().FindHistory(t.Context(), "demo", signature)
		if err != nil {
			t.Fatal(err)
		}
		var listed store.Signature
		for _, row := range l.list(store.SignatureQuery{Class: "all"}).Rows {
			if row.Text == signature {
				listed = row.Signature
			}
		}
		for where, s := range map[string]store.Signature{
			"alone": l.signature(signature), "with its history": history.Signature, "in the list": listed,
		} {
			if got := latest(&s); got != want {
				t.Errorf("%s %s: %q, want %q", signature, where, got, want)
			}
		}
	}
	for class, want := range map[string]string{"cache": "A", "stable": "L B", "one-time": "C", "transient": ""} {
		page := l.list(store.SignatureQuery{Class: class})
		if listed(page) != want {
			t.Errorf("%s: %q, want %q", class, listed(page), want)
		}
		for _, row := range page.Rows {
			if string(row.Latest.Class) != class {
				t.Errorf("%s is listed as %s, and is %s", row.Text, class, row.Latest.Class)
			}
		}
	}
}

// A signature of which no run is left has no figures.
func TestFiguresOfWhatNoRunShows(t *testing.T) {
	l := newLab(t)
	run := l.run("1/soak", leaksReport(finding{signature: "A", class: cache}))
	if err := l.DeleteRun(t.Context(), run, "ann"); err != nil {
		t.Fatal(err)
	}
	s := l.signature("A")
	if got, want := latest(&s), "unknown - 0 in  "; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// latest prints the figures of a signature and where they were measured.
func latest(s *store.Signature) string {
	score := "-"
	if s.Latest.Score != nil {
		score = fmt.Sprint(*s.Latest.Score)
	}
	return fmt.Sprintf("%s %s %d in %s %s", s.Latest.Class, score, s.Latest.Outstanding.Bytes, s.Measured, s.LastSeen)
}
