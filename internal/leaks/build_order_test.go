package leaks_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"heapdrift/internal/leaks"
)

// built reads builds such as "b9", "late@3 14:00" (when its evidence was taken, on a day of May) and "rc=7" (its
// sequence). Their ids are their numbers in the list.
func built(t *testing.T, texts ...string) (builds []leaks.Build) {
	t.Helper()
	for i, text := range texts {
		b := leaks.Build{ID: int64(i + 1)}
		name, sequence, declared := strings.Cut(text, "=")
		name, at, dated := strings.Cut(name, "@")
		b.Name = name
		if declared {
			n, ok := leaks.SequenceOfName(sequence)
			if !ok {
				t.Fatalf("%q is no build", text)
			}
			b.Sequence = &n
		}
		if dated {
			when, err := time.Parse("2006-01 2 15:04", "2026-05 "+at)
			if err != nil {
				t.Fatal(err)
			}
			b.At = when
		}
		builds = append(builds, b)
	}
	return builds
}

// inOrder are the names of builds, the oldest first.
func inOrder(builds []leaks.Build) []string {
	type buildPlace struct {
		name  string
		place leaks.BuildRank
	}
	var list []buildPlace
	for i, place := range leaks.RankBuilds(builds) {
		list = append(list, buildPlace{builds[i].Name, place})
	}
	slices.SortFunc(list, func(a, b buildPlace) int { return leaks.CompareRanks(a.place, b.place) })
	var names []string
	for i, p := range list {
		if names = append(names, p.name); i > 0 && leaks.CompareRanks(list[i-1].place, p.place) == 0 {
			names = append(names, "at the same place")
		}
	}
	return names
}

// Each row lists builds in their order, which is found whatever order they come in.
func TestPlaces(t *testing.T) {
	for name, row := range map[string][]string{
		"one shape":                   {"b9", "b10", "b101"},
		"several numbers":             {"1.2.9", "1.2.10", "1.10.0", "2.0.0"},
		"numbers between words":       {"2024.1-rc2", "2024.1-rc10", "2024.2-rc1", "2025.1-rc0"},
		"zeros in front":              {"b08", "b9", "b010", "b11"},
		"the same number":             {"b01", "b1", "b2"},
		"longer than any integer":     {"b99999999999999999999", "b100000000000000000000", "b100000000000000000001"},
		"beyond ASCII":                {"жук 9", "жук 10"},
		"by shape though dated":       {"b9@9 12:00", "b10@7 12:00", "b11@8 12:00"},
		"several shapes":              {"b10@1 12:00", "nightly@2 12:00", "b9@3 12:00"},
		"one part more":               {"1.2.10@1 12:00", "1.2.9.1@2 12:00", "1.2.9@3 12:00"},
		"no number":                   {"zebra@1 12:00", "ant@2 12:00"},
		"several shapes at one time":  {"a9@1 12:00", "a10@1 12:00", "b1@1 12:00"},
		"before the epoch":            {"old@1 12:00", "new1@2 12:00", "new2@2 12:01"},
		"declared":                    {"z=-9223372036854775808", "y=-1", "x=0", "w=7", "v=9223372036854775807"},
		"declared alike":              {"b9=7", "b10=7", "rc=7", "a=8"},
		"declared are newer":          {"b9", "b10", "b2=1", "b1=2"},
		"declared have no say":        {"b9@2 12:00", "b10@1 12:00", "nightly=3"},
		"declared, and shapes beside": {"b10@1 12:00", "b-9@2 12:00", "b2=1", "b1=2"},
	} {
		builds := built(t, row...)
		want := make([]string, len(builds))
		for i, b := range builds {
			want[i] = b.Name
		}
		rng := rand.New(rand.NewPCG(1, 1))
		for range 20 {
			rng.Shuffle(len(builds), func(i, k int) { builds[i], builds[k] = builds[k], builds[i] })
			if got := inOrder(builds); !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", name, got, want)
				break
			}
		}
	}
	if got := leaks.RankBuilds(nil); len(got) != 0 {
		t.Errorf("of no builds: %v", got)
	}
}

// A build that comes between two others moves neither, as long as all names still have one shape.
func TestPlacesStay(t *testing.T) {
	before := leaks.RankBuilds(built(t, "b9", "b11", "x=7"))
	after := leaks.RankBuilds(built(t, "b9", "b11", "x=7", "b10", "8=8", "y=1"))
	if !slices.EqualFunc(before, after[:3], func(a, b leaks.BuildRank) bool { return leaks.CompareRanks(a, b) == 0 }) {
		t.Errorf("%x became %x", before, after)
	}
	if moved := leaks.RankBuilds(built(t, "b9", "b11", "x=7", "nightly")); leaks.CompareRanks(moved[0], before[0]) == 0 ||
		leaks.CompareRanks(moved[2], before[2]) != 0 {
		t.Errorf("beside another shape %x became %x", before, moved)
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

// calendar has two builds without a sequence, in the order of time, and five builds with one.
func calendar() *leaks.BuildOrder {
	day := func(n int) time.Time { return time.Date(2026, 5, n, 12, 0, 0, 0, time.UTC) }
	return leaks.NewBuildOrder([]leaks.Build{
		{ID: 1, Name: "30", Sequence: new(int64(30))}, {ID: 2, Name: "early", At: day(1)},
		{ID: 3, Name: "10", Sequence: new(int64(10))}, {ID: 4, Name: "late", At: day(2)},
		{ID: 5, Name: "twenty", Sequence: new(int64(20))}, {ID: 6, Name: "again twenty", Sequence: new(int64(20))},
		{ID: 7, Name: "7", Sequence: new(int64(25))},
	})
}

func TestCalendar(t *testing.T) {
	c := calendar()
	var ids []int64
	for place := range 7 {
		ids = append(ids, *c.IDAt(place))
		if got := c.Index(c.IDAt(place)); got != place {
			t.Errorf("the build at %d is at %d", place, got)
		}
	}
	if want := []int64{2, 4, 3, 6, 5, 7, 1}; !slices.Equal(ids, want) {
		t.Errorf("in the order %v, want %v", ids, want)
	}
	if c.IDAt(-1) != nil || c.Index(nil) != -1 || c.Index(new(int64(99))) != -1 {
		t.Error("what is not there has a place")
	}
	for name, want := range map[string]int{"early": 0, "30": 6, "": 6} {
		if got, ok := c.IndexOfName(name); !ok || got != want {
			t.Errorf("%q is at %d, %v; want %d", name, got, ok, want)
		}
	}
	for _, name := range []string{"nobody", "25"} {
		if _, ok := c.IndexOfName(name); ok {
			t.Errorf("%q is there", name)
		}
	}
	if _, ok := leaks.NewBuildOrder(nil).IndexOfName(""); ok {
		t.Error("of no builds one is the newest")
	}
}

// A name that is a number determines the place of a build before the build is there.
func TestCalendarFrom(t *testing.T) {
	c := calendar()
	for _, test := range []struct {
		name string
		want int
	}{
		{"", -1}, {"nobody", -1}, {"v31", -1}, {"9223372036854775808", -1},
		{"early", 0}, {"late", 1}, {"again twenty", 3}, {"twenty", 4},
		{"10", 2}, {"7", 5}, // by its name, though it declared another sequence
		{"0", 2}, {"9", 2}, // before all that have a sequence, behind those that have none
		{"11", 3}, {"19", 3}, {"20", 3}, {"21", 5}, // the first of two
		{"29", 6}, {"30", 6}, {"31", -1},
	} {
		if got := c.IndexFrom(test.name); got != test.want {
			t.Errorf("from %q on is from %d, want %d", test.name, got, test.want)
		}
	}
	for name, want := range map[string]int{"": -1, "1": -1, "early": -1} {
		if got := leaks.NewBuildOrder(nil).IndexFrom(name); got != want {
			t.Errorf("of no builds, from %q on is from %d", name, got)
		}
	}
	if got := leaks.NewBuildOrder([]leaks.Build{{ID: 1, Name: "early"}}).IndexFrom("5"); got != -1 {
		t.Errorf("where no build has a sequence, from 5 on is from %d", got)
	}
}

// A name of the shape of builds in natural order determines a place, too; among builds that declared a sequence it
// determines none.
func TestCalendarFromAShape(t *testing.T) {
	c := leaks.NewBuildOrder(built(t, "b9", "b11", "b20", "x=7"))
	for name, want := range map[string]int{"b8": 0, "b10": 1, "b12": 2, "b21": -1, "b9.1": -1, "c10": -1,
		"6": 3, "b9": 0, "x": 3} {
		if got := c.IndexFrom(name); got != want {
			t.Errorf("from %q on is from %d, want %d", name, got, want)
		}
	}
	if got := leaks.NewBuildOrder(built(t, "b9", "b11", "nightly")).IndexFrom("b10"); got != -1 {
		t.Errorf("beside another shape, from b10 on is from %d", got)
	}
}

func TestMarksOfATriageDecision(t *testing.T) {
	c := calendar()
	var builds []leaks.LineBuild
	for at := range 7 {
		builds = append(builds, leaks.LineBuild{ID: *c.IDAt(at), Rank: leaks.LineRank(at)})
	}
	line := leaks.NewBuildLines(builds, "main").Of("main")
	for _, test := range []struct {
		word leaks.TriageDecision
		want leaks.MarkedBuilds
	}{
		{leaks.TriageDecision{}, unmarked},
		{leaks.TriageDecision{Mark: leaks.MarkFixed, FixedID: new(int64(3))}, fixedIn(2)},
		{leaks.TriageDecision{Mark: leaks.MarkFixed, FixedID: new(int64(99))}, unmarked}, // which is not there any more
		{leaks.TriageDecision{Mark: leaks.MarkKnown}, unmarked},
		{leaks.TriageDecision{Mark: leaks.MarkKnown, UntilBuild: "29"}, knownUntil(6)},
		{leaks.TriageDecision{Mark: leaks.MarkKnown, UntilBuild: "31"}, unmarked}, // which is still to come
	} {
		if got := test.word.MarksOn(line, c); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%+v: %+v, want %+v", test.word, got, test.want)
		}
	}
}
