package api_test

import (
	"testing"

	"heapdrift/internal/analysis"
)

// The history of a leak names the caller by which the leak is known to be gone from a build, and so does the
// comparison.
func TestAbsentLeak(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	n := start(t)
	served := func(signature, name string, class analysis.Class, bytes int64) analysis.Finding {
		f := found(signature, name, class, bytes)
		f.Frames = []string{"shop!" + name, "shop!Serve", "shop!Loop", "shop!main"}
		return f
	}
	n.build("1", served(sigLeak, "Leak", analysis.ClassLeak, 1000), served(sigOther, "Other", analysis.ClassStable, 0))
	n.build("2", served(sigOther, "Other", analysis.ClassStable, 0))
	type leak struct {
		State   string
		History []struct {
			Build     string
			Exercised bool
			Absent    *struct {
				Frame, Sentence string
				Stacks          int
			}
		}
	}
	v := decode[leak](t, n.do("GET", at(sigLeak), nil).want(t, 200, ""))
	if v.State != "fixed" || len(v.History) != 2 || v.History[0].Absent != nil || v.History[1].Exercised ||
		v.History[1].Absent == nil {
		t.Fatalf("%+v", v)
	}
	const why = "gone in build 2, where its caller shop!Serve ran (in 1 other stack)"
	if a := v.History[1].Absent; a.Frame != "shop!Serve" || a.Stacks != 1 || a.Sentence != why {
		t.Errorf("%+v", a)
	}
	type comparison struct {
		Fixed []struct{ Signature, Why string }
	}
	c := decode[comparison](t,
		n.do("GET", "/api/v1/compare?project=shop&scenario=soak&base=1&head=2", nil).want(t, 200, ""))
	if len(c.Fixed) != 1 || c.Fixed[0].Signature != sigLeak || c.Fixed[0].Why != why {
		t.Errorf("%+v", c)
	}
}
