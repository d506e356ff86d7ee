package analysis

import "testing"

// Up to the exit of its process a site holds what ended with it; the amounts of the whole trace stay as they are.
func TestAmountsUpToExit(t *testing.T) {
	amount := func(n int64) Amount { return Amount{Count: n, Bytes: 10 * n} }
	growth := amount(3)
	a := Amounts{Outstanding: amount(5), Growth: &growth,
		Lifetimes: &Lifetimes{AtExit: amount(2), AIFO: amount(5), AIFI: amount(4), Freed: amount(4), HeldAtExit: &growth}}
	out := a.UpToExit()
	if out.Outstanding != amount(7) || *out.Growth != amount(5) || out.AIFO != amount(7) || out.AIFI != amount(2) || out.Freed != amount(2) ||
		out.AtExit != (Amount{}) || out.HeldAtExit != nil {
		t.Errorf("%+v, %+v", out, *out.Lifetimes)
	}
	if a.Outstanding != amount(5) || *a.Growth != amount(3) || a.AIFO != amount(5) || a.AtExit != amount(2) || a.HeldAtExit == nil {
		t.Errorf("the amounts of the whole trace are others: %+v, %+v", a, *a.Lifetimes)
	}
	a.Growth = nil
	if out := a.UpToExit(); out.Growth != nil || out.Outstanding != amount(7) {
		t.Errorf("%+v", out)
	}
	a.AtExit = Amount{}
	if out := a.UpToExit(); out.Outstanding != amount(5) || out.HeldAtExit == nil || out.Lifetimes != a.Lifetimes {
		t.Errorf("nothing ended with it: %+v", out)
	}
	if out := (&Amounts{Outstanding: amount(5)}).UpToExit(); out.Outstanding != amount(5) || out.Lifetimes != nil {
		t.Errorf("of snapshots: %+v", out)
	}
}
