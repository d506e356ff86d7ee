package store_test

import (
	"fmt"
	"testing"

	"heapdrift/internal/store"
)

// A node that says something again is the same one; those that said nothing for an hour are forgotten, and one that
// ends is forgotten at once.
func TestNodes(t *testing.T) {
	l := newLab(t)
	see := func(n store.Node) {
		t.Helper()
		if err := l.UpdateNode(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	names := func() (list []string) {
		t.Helper()
		for _, n := range must[[]store.NodeRecord](t)(l.now().ListNodes(t.Context())) {
			list = append(list, fmt.Sprintf("%s %s %s %d/%d %s", n.ID, n.Role, n.Host, n.Running, n.Slots, n.Says))
		}
		return list
	}
	for _, id := range []string{"late", "long gone", "ends"} {
		see(store.Node{ID: id, Role: "work", Host: "b"})
	}
	l.sql(`update nodes set seen_at = now() - case id when 'late' then interval '59 minutes' else interval '61 minutes' end where id <> 'ends'`)
	see(store.Node{ID: "1", Role: "serve", Host: "z", Slots: 2})
	see(store.Node{ID: "1", Role: "serve", Host: "z", Slots: 2, Running: 1, Says: "full"})
	see(store.Node{ID: "2", Role: "work", Host: "a"})
	if got, want := fmt.Sprint(names()), "[1 serve z 1/2 full 2 work a 0/0  late work b 0/0  ends work b 0/0 ]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if err := l.DeleteNode(t.Context(), "ends"); err != nil {
		t.Fatal(err)
	}
	l.sql(`update nodes set seen_at = now() - interval '61 minutes' where id = '1'`)
	see(store.Node{ID: "1", Role: "serve", Host: "z"})
	if got := len(names()); got != 3 {
		t.Errorf("%d nodes: one that speaks again is forgotten, or one that ended is not: %v", got, names())
	}
}

// Answers of a place add up by what it answered.
func TestPlaces(t *testing.T) {
	l := newLab(t)
	note := func(answers ...store.SymbolSourceAnswer) {
		t.Helper()
		if err := l.UpdateSymbolSources(t.Context(), answers); err != nil {
			t.Fatal(err)
		}
	}
	note(store.SymbolSourceAnswer{Place: "https://b", Result: "found", Count: 2}, store.SymbolSourceAnswer{Place: "https://b", Result: "missing", Count: 9},
		store.SymbolSourceAnswer{Place: "https://a", Result: "found", Count: 1}, store.SymbolSourceAnswer{Place: "https://b", Result: "broken", Count: 2})
	l.sql(`update symbol_places set last_at = now() - interval '1 day'`)
	note(store.SymbolSourceAnswer{Place: "https://a", Result: "found", Count: 4})
	note()
	got := ""
	for _, a := range must[[]store.SymbolSourceAnswer](t)(l.now().ListSymbolSources(t.Context())) {
		got += fmt.Sprintf("%s %s %d; ", a.Place, a.Result, a.Count)
	}
	if got != "https://a found 5; https://b missing 9; https://b broken 2; https://b found 2; " {
		t.Error(got)
	}
	if got := l.text(`select string_agg(place, ' ') from symbol_places where last_at > now() - interval '1 hour'`); got != "https://a" {
		t.Errorf("answered lately: %s", got)
	}
}
