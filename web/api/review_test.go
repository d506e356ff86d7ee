package api_test

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/storetest"
)

// The leaks of a run are counted by file and by test, and accepted but for those that the call names.
func TestAcceptLeaksOfARun(t *testing.T) {
	n := start(t)
	n.build("1", found(sigLeak, "Leak", analysis.ClassLeak, 1000), found(sigOther, "Other", analysis.ClassLeak, 10),
		found("sig1:cc", "Third", analysis.ClassGrowing, 7))
	type review struct {
		Leaks, Certain, Possible, Known int
		Held                            analysis.Amount
		Sentence                        string
		Signatures                      []string
		Places, Tests                   []struct{ Leaks int }
	}
	all := decode[review](t, n.do("GET", "/api/v1/runs/1/unaccepted", nil).want(t, 200, ""))
	if all.Leaks != 2 || all.Certain+all.Possible != 2 || all.Known != 0 || fmt.Sprint(all.Signatures) != fmt.Sprint([]string{sigLeak, sigOther}) ||
		len(all.Places) == 0 || len(all.Tests) != 1 || all.Tests[0].Leaks != 2 || all.Sentence != "" {
		t.Fatalf("%+v", all)
	}
	type acceptance struct {
		Accepted, Left review
		Sentence       string
	}
	accept := func(body string) acceptance {
		return decode[acceptance](t, n.do("POST", "/api/v1/runs/1/accept", strings.NewReader(body)).want(t, 200, ""))
	}
	// Names of nothing are refused before anything is accepted.
	for body, want := range map[string]string{
		`{"except": ["` + sigOther + `", "cahce.cpp"]}`:            `a signature "cahce.cpp"; nothing is accepted`,
		`{"except": [` + strings.Repeat(`"b",`, 10) + `"c", "d"]}`: `"b", "b" and 2 more; nothing is accepted`,
	} {
		refused := n.do("POST", "/api/v1/runs/1/accept", strings.NewReader(body)).want(t, 422, "invalid-except")
		p := decode[struct{ Field, Detail string }](t, refused)
		if p.Field != "except" || !strings.Contains(p.Detail, want) {
			t.Errorf("%s: %+v, want %s", body, p, want)
		}
	}
	still := decode[review](t, n.do("GET", "/api/v1/runs/1/unaccepted", nil).want(t, 200, ""))
	if still.Leaks != 2 || still.Known != 0 {
		t.Errorf("refused: %+v", still)
	}
	a := accept(`{"except": ["` + sigOther + `"]}`)
	if a.Accepted.Leaks != 1 || a.Left.Leaks != 1 || a.Sentence != "1 known as of build 1, 1 not accepted. The gate is on new leaks." {
		t.Errorf("%+v", a)
	}
	if a = accept(`{}`); a.Accepted.Leaks != 1 || a.Left.Leaks != 0 || a.Sentence != "2 known as of build 1. The gate is on new leaks." {
		t.Errorf("%+v", a)
	}
	if a = accept(`{}`); a.Accepted.Leaks != 0 || a.Sentence != "2 known as of build 1. The gate is on new leaks." {
		t.Errorf("again: %+v", a)
	}
	s, err := storetest.Now(t, n.store).FindSignature(t.Context(), "shop", sigLeak)
	if err != nil || s.State != leaks.StateKnown || s.Known == nil || s.Known.Reason != leaks.FirstRunReason {
		t.Errorf("%+v, %v", s, err)
	}
	n.do("GET", "/api/v1/runs/99/unaccepted", nil).want(t, 404, "not-found")
	n.do("POST", "/api/v1/runs/99/accept", strings.NewReader(`{}`)).want(t, 404, "not-found")
	n.do("POST", "/api/v1/runs/1/accept", strings.NewReader(`{"but": []}`)).want(t, 422, "invalid-body")
}
