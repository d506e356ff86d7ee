package leaks

import "testing"

func TestStateOfATest(t *testing.T) {
	for _, test := range []struct {
		count TestCount
		want  TestState
	}{
		{TestCount{Leaks: 2, Known: 1, New: 1, Whole: true}, TestNew}, {TestCount{Leaks: 2, Known: 1, Whole: true}, TestOpen},
		{TestCount{Leaks: 2, Known: 2, Whole: true}, TestKnown}, {TestCount{Leaks: 1, Known: 2}, TestKnown},
		{TestCount{Leaks: 1, Known: 1, Open: 1, Whole: true}, TestOpen},
		{TestCount{Leaks: 1, Known: 1, Open: 1, New: 1}, TestNew},
		{TestCount{Open: 1, Whole: true}, TestClean},
		{TestCount{}, TestUnknown}, {TestCount{Whole: true}, TestClean},
	} {
		if got := test.count.State(); got != test.want {
			t.Errorf("%+v is %s, want %s", test.count, got, test.want)
		}
	}
}
