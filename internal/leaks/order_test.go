package leaks_test

import (
	"math"
	"slices"
	"testing"

	"heapdrift/internal/leaks"
)

// declared is the place of a build whose sequence is known, undeclared that of one that is ordered by when it was first seen.
func declared(sequence, id int64) leaks.Place { return leaks.Place{Sequence: &sequence, ID: id} }
func undeclared(id int64) leaks.Place         { return leaks.Place{ID: id} }

func TestComparePlaces(t *testing.T) {
	ascending := []leaks.Place{
		undeclared(7), undeclared(9),
		declared(math.MinInt64, 1), declared(-1, 8), declared(0, 8), declared(4, 8), declared(5, 1), declared(5, 2), declared(6, 1), declared(math.MaxInt64, 1),
	}
	for i, a := range ascending {
		for k, b := range ascending {
			if got, want := leaks.ComparePlaces(a, b), min(max(i-k, -1), 1); got != want {
				t.Errorf("%d and %d of the list: %d, want %d", i, k, got, want)
			}
		}
	}
}

func TestSequenceOfName(t *testing.T) {
	for name, want := range map[string]int64{"0": 0, "4812": 4812, "007": 7, "9223372036854775807": math.MaxInt64} {
		if got, ok := leaks.SequenceOfName(name); !ok || got != want {
			t.Errorf("%q: %d, %v", name, got, ok)
		}
	}
	for _, name := range []string{"", "1.2", "v1", "1 ", "1_000", "0x10", "9223372036854775808"} {
		if got, ok := leaks.SequenceOfName(name); ok {
			t.Errorf("%q is %d", name, got)
		}
	}
}

// calendar has two builds without a sequence, and five with.
func calendar() *leaks.Calendar {
	return leaks.NewCalendar([]leaks.CalendarBuild{
		{ID: 1, Name: "30", Sequence: new(int64(30))}, {ID: 2, Name: "early"}, {ID: 3, Name: "10", Sequence: new(int64(10))}, {ID: 4, Name: "late"},
		{ID: 5, Name: "twenty", Sequence: new(int64(20))}, {ID: 6, Name: "again twenty", Sequence: new(int64(20))}, {ID: 7, Name: "7", Sequence: new(int64(25))},
	})
}

func TestCalendar(t *testing.T) {
	c := calendar()
	var ids []int64
	for place := range 7 {
		ids = append(ids, *c.ID(place))
		if got := c.Place(c.ID(place)); got != place {
			t.Errorf("the build at %d is at %d", place, got)
		}
	}
	if want := []int64{2, 4, 3, 5, 6, 7, 1}; !slices.Equal(ids, want) {
		t.Errorf("in the order %v, want %v", ids, want)
	}
	if c.ID(-1) != nil || c.Place(nil) != -1 || c.Place(new(int64(99))) != -1 {
		t.Error("what is not there has a place")
	}
	for name, want := range map[string]int{"early": 0, "30": 6, "": 6} {
		if got, ok := c.Named(name); !ok || got != want {
			t.Errorf("%q is at %d, %v; want %d", name, got, ok, want)
		}
	}
	for _, name := range []string{"nobody", "25"} {
		if _, ok := c.Named(name); ok {
			t.Errorf("%q is there", name)
		}
	}
	if _, ok := leaks.NewCalendar(nil).Named(""); ok {
		t.Error("of no builds one is the newest")
	}
}

// A name that is a number tells its place before the build is there.
func TestCalendarFrom(t *testing.T) {
	c := calendar()
	for _, test := range []struct {
		name string
		want int
	}{
		{"", -1}, {"nobody", -1}, {"v31", -1}, {"9223372036854775808", -1},
		{"early", 0}, {"late", 1}, {"again twenty", 4},
		{"10", 2}, {"7", 5}, // by its name, though it declared another sequence
		{"0", 2}, {"9", 2}, // before all that have a sequence, behind those that have none
		{"11", 3}, {"19", 3}, {"20", 3}, {"21", 5}, // the first of two
		{"29", 6}, {"30", 6}, {"31", -1},
	} {
		if got := c.From(test.name); got != test.want {
			t.Errorf("from %q on is from %d, want %d", test.name, got, test.want)
		}
	}
	for name, want := range map[string]int{"": -1, "1": -1, "early": -1} {
		if got := leaks.NewCalendar(nil).From(name); got != want {
			t.Errorf("of no builds, from %q on is from %d", name, got)
		}
	}
	if got := leaks.NewCalendar([]leaks.CalendarBuild{{ID: 1, Name: "early"}}).From("5"); got != -1 {
		t.Errorf("where no build has a sequence, from 5 on is from %d", got)
	}
}

func TestMarksOfAWord(t *testing.T) {
	c := calendar()
	for _, test := range []struct {
		word leaks.Word
		want leaks.Marks
	}{
		{leaks.Word{}, unmarked},
		{leaks.Word{Mark: leaks.MarkFixed, FixedID: new(int64(3))}, fixedIn(2)},
		{leaks.Word{Mark: leaks.MarkFixed, FixedID: new(int64(99))}, unmarked}, // which is not there any more
		{leaks.Word{Mark: leaks.MarkKnown}, unmarked},
		{leaks.Word{Mark: leaks.MarkKnown, UntilBuild: "29"}, knownUntil(6)},
		{leaks.Word{Mark: leaks.MarkKnown, UntilBuild: "31"}, unmarked}, // which is still to come
	} {
		if got := test.word.Marks(c); got != test.want {
			t.Errorf("%+v: %+v, want %+v", test.word, got, test.want)
		}
	}
}
