package push_test

import (
	"net/http"
	"testing"

	"heapdrift/internal/push"
)

// The first file of a large run is not sent again if the server has it and would learn nothing new about the build.
func TestFirstFileIsKnown(t *testing.T) {
	const large = 1 << 20
	build := `{"name":"100","branch":"main","commit":"c1","sequence":5,` +
		`"runs":[{"id":6,"scenario":"soak","name":"1"},{"id":7,"scenario":"default","name":"1"}]}`
	for name, test := range map[string]struct {
		size   int
		change func(f *fakeServer, p *push.Plan)
		want   push.Outcome
	}{
		"as it was":       {large, func(*fakeServer, *push.Plan) {}, push.OutcomeKnown},
		"too small":       {large - 1, func(*fakeServer, *push.Plan) {}, push.OutcomeSent},
		"branch is known": {large, func(_ *fakeServer, p *push.Plan) { p.Target.Branch = "main" }, push.OutcomeKnown},
		"another branch":  {large, func(_ *fakeServer, p *push.Plan) { p.Target.Branch = "fix" }, push.OutcomeSent},
		"another commit":  {large, func(_ *fakeServer, p *push.Plan) { p.Target.Commit = "c2" }, push.OutcomeSent},
		"a fork":          {large, func(_ *fakeServer, p *push.Plan) { p.Target.Fork = "99" }, push.OutcomeSent},
		"its number":      {large, func(_ *fakeServer, p *push.Plan) { p.Target.Sequence = new(int64(5)) }, push.OutcomeKnown},
		"another number":  {large, func(_ *fakeServer, p *push.Plan) { p.Target.Sequence = new(int64(6)) }, push.OutcomeSent},
		"another run":     {large, func(_ *fakeServer, p *push.Plan) { p.Target.Run = "2" }, push.OutcomeSent},
		"work":            {large, func(_ *fakeServer, p *push.Plan) { p.Evidence[0].Work = new(1.0) }, push.OutcomeSent},
		"not readable":    {large, func(f *fakeServer, _ *push.Plan) { f.failed = "a.dmp" }, push.OutcomeSent},
		"no such build":   {large, func(f *fakeServer, _ *push.Plan) { f.build = "" }, push.OutcomeSent},
		"older server": {large, func(f *fakeServer, _ *push.Plan) {
			f.build = `{"name":"100","branch":"main","runs":[{"scenario":"default","name":"1"}]}`
		}, push.OutcomeSent},
		"token may not read": {large, func(f *fakeServer, _ *push.Plan) {
			f.before = func(_ int, w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodGet {
					return false
				}
				problem(w, http.StatusForbidden, "forbidden", "this token uploads only")
				return true
			}
		}, push.OutcomeSent},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.build = build
			p := files(t, map[string]int{"a.dmp": test.size})
			p.Target.Project, p.Target.Build, p.Target.Scenario, p.Target.Run = "shop", "100", "default", "1"
			c, _ := f.client()
			f.build = ""
			if _, err := c.Send(t.Context(), p, &fileLog{}); err != nil {
				t.Fatal(err)
			}
			f.build = build
			test.change(f, p)
			w := &fileLog{}
			run, err := c.Send(t.Context(), p, w)
			if err != nil {
				t.Fatal(err)
			}
			if w.ended["a.dmp"] != test.want || run.ID != 7 {
				t.Errorf("%v of run %d, want %s of 7", w.ended, run.ID, test.want)
			}
		})
	}
}
