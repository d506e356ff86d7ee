package main

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A share of some values does not exceed the percentile, at the edges too.
func TestPercentile(t *testing.T) {
	list := make([]time.Duration, 100)
	for i := range list {
		list[i] = time.Duration(i + 1)
	}
	for share, want := range map[float64]time.Duration{0: 1, 0.5: 50, 0.985: 99, 0.99: 99, 0.991: 100, 1: 100} {
		if got := percentile(list, share); got != want {
			t.Errorf("%v: %d, want %d", share, got, want)
		}
	}
	if got := percentile(list[:1], 0.99); got != 1 {
		t.Errorf("of one value: %d", got)
	}
}

// Each page is asked for so many times, with the words of one run, and an answer that is none is an error.
func TestWalk(t *testing.T) {
	asked := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked[r.URL.Path]++
		if r.URL.Path == "/gone" {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer server.Close()
	drawn := &sample{projects: []string{"p"}, values: map[string][]values{"p": {{"project": "p", "run": "7"}}}, random: rand.New(rand.NewPCG(1, 1))}
	m := &meter{server: server.URL, taken: map[string][]answer{}}
	m.walk(t.Context(), drawn, drawn.projects, []page{{"run page", "/runs/{run}"}, {"board", "/"}}, 3)
	if m.failure != nil || asked["/runs/7"] != 5 || asked["/"] != 5 || len(m.taken["run page"]) != 3 {
		t.Errorf("%v, %v, %d counted", m.failure, asked, len(m.taken["run page"]))
	}
	var out strings.Builder
	m.print(&out, []page{{name: "run page"}, {name: "never asked"}})
	if text := out.String(); !strings.Contains(text, "run page                            3") || strings.Contains(text, "never") {
		t.Error(text)
	}
	m.load(t.Context(), drawn, []page{{"gone", "/gone"}}, 100, 50*time.Millisecond)
	if m.failure == nil || asked["/gone"] != 5 || len(m.taken["gone"]) != 0 {
		t.Errorf("%v, %d asked", m.failure, asked["/gone"])
	}
}
