package worker_test

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/storetest"
	"heapdrift/worker/workertest"
)

// served is a raw log of till.exe whose handler of requests holds a buffer and n blocks that it leaks; n is 0 for a
// build that frees them.
func served(minute, n int) string {
	stacks := []string{"till!Buffer::Take", "till!Receipt::Append"}
	log := workertest.TillLog(minute)
	head, rest, _ := strings.Cut(log, fmt.Sprintf("%X bytes + ", 100+minute))
	_, tail, _ := strings.Cut(rest, "*- - -")
	var b strings.Builder
	b.WriteString(head)
	for i := range n + 1 {
		fmt.Fprintf(&b, "40 bytes + 10 at %X by BackTrace1B000000A%d\n\tntdll!RtlAllocateHeap+0x00000010\n",
			0x1B0003F0880+0x60*i, min(i, 1))
		for _, frame := range []string{stacks[min(i, 1)], "till!Till::Serve", "till!Till::Loop", "till!main"} {
			fmt.Fprintf(&b, "\t%s+0x00000020 (c:\\till\\till.cpp, 12)\n", frame)
		}
		b.WriteString("\n")
	}
	return b.String() + "*- - -" + tail
}

// Logs of a build that frees the leaked blocks list none of them: the leak is fixed, because its caller ran.
func TestFixedLeakIsInNoLog(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for _, order := range [][]string{{"b9", "b10"}, {"b10", "b9"}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) { fixedLeakIsInNoLog(t, order) })
	}
}

func fixedLeakIsInNoLog(t *testing.T, order []string) {
	p := start(t)
	for _, build := range order {
		var run int64
		for k := range 8 {
			n := 0
			if build == "b9" {
				n = 5 + 20*k
			}
			e, err := p.Intake.Accept(t.Context(), leaks.UploadTarget{Project: "p", Build: build}, fmt.Sprintf("%d.txt", k),
				strings.NewReader(served(k, n)))
			if err != nil {
				t.Fatal(err)
			}
			run = e.RunID
		}
		p.settled(run)
	}
	var found bool
	for _, s := range p.signatures() {
		if s.Title != "till!Receipt::Append" {
			continue
		}
		found = true
		if s.State != leaks.StateFixed || s.FirstBad != "b9" || s.FixedIn != "b10" {
			t.Errorf("%s, bad first in %q, fixed in %q", s.State, s.FirstBad, s.FixedIn)
		}
	}
	if !found {
		t.Errorf("%+v", p.signatures())
	}
	c, err := storetest.Now(t, p.Store).Compare(t.Context(),
		leaks.ComparisonQuery{Project: "p", Scenario: leaks.DefaultScenario, Base: "b9", Head: "b10"})
	if err != nil {
		t.Fatal(err)
	}
	if want := "gone in build b10, where its caller till!Till::Serve ran (in 1 other stack)"; len(c.Rows) != 1 || c.Rows[0].Change != compare.ChangeFixed || c.Rows[0].Why != want {
		t.Errorf("%+v, want %s", c.Rows, want)
	}
}
