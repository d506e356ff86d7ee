package allocations

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"heapdrift/ingest/evidence"
)

// survivalsOf is the result that Ask must give, computed row by row as the fields of Survival are defined.
func survivalsOf(rows []Row, q *Question) (survivals []Survival, left []Usage) {
	s := q.Survivals
	left = make([]Usage, q.Sites)
	over := func(site int) int64 {
		if s.Over == nil {
			return q.To
		}
		return max(q.From, min(q.To, s.Over[site]))
	}
	from := func(site int) int64 {
		if s.From == nil {
			return q.From
		}
		return min(over(site), max(q.From, s.From[site]))
	}
	for site, place := range s.Slots {
		for place >= int32(len(survivals)) {
			survivals = append(survivals, Survival{})
		}
		if place >= 0 {
			survivals[place].From, survivals[place].Over = from(site), over(site)
		}
	}
	late := map[int32]float64{}
	for i := range rows {
		r := &rows[i]
		f, o := from(int(r.Site)), over(int(r.Site))
		if r.UnknownFree {
			if r.FreeTime > f+(o-f)/2 && r.FreeTime <= o && s.Heaps != nil && s.Heaps[r.Site] >= 0 {
				late[s.Heaps[r.Site]]++
			}
			continue
		}
		if r.AllocTime < f || r.AllocTime > o {
			continue
		}
		isLeft := r.FreeTime > o || r.End == EndExit || r.End == EndDestroy && r.FreeTime == o && o < q.To
		u := Usage{1, int64(r.Size)}
		if r.Part {
			u.Count = 0
		}
		if isLeft {
			left[r.Site] = left[r.Site].Add(u)
		}
		if s.Slots[r.Site] < 0 {
			continue
		}
		v := &survivals[s.Slots[r.Site]]
		bin := uint64(r.AllocTime-f) / (uint64(o-f)/SurvivalBins + 1)
		v.Born[bin] += u.Count
		if isLeft {
			v.Left[bin] += u.Count
			v.LeftBytes[bin] += u.Bytes
			continue
		}
		bucket := int(math.Floor(2 * math.Log2(math.Max(1, float64(r.FreeTime-r.AllocTime))) * (1 + 1e-15)))
		v.Ended[bucket] += u.Count
	}
	all := map[int32]float64{}
	for site := range s.Heaps {
		all[s.Heaps[site]] += float64(left[site].Count)
	}
	for site := range s.Heaps {
		if h := s.Heaps[site]; h >= 0 && s.Slots[site] >= 0 && late[h] > 0 && left[site].Count > 0 {
			survivals[s.Slots[site]].LateUnknownFrees += int64(math.Ceil(late[h] * float64(left[site].Count) / all[h]))
		}
	}
	return survivals, left
}

// survivalQuestion asks for the survivals of some sites; some of them share a place, and windows differ by process.
func survivalQuestion(r *rand.Rand, sites int, from, to int64) *SurvivalQuestion {
	s := &SurvivalQuestion{}
	if r.IntN(2) == 0 {
		s.From, s.Over, s.Heaps = []int64{}, []int64{}, []int32{}
	}
	ends := [3]int64{to + 5, from + r.Int64N(to-from+1), from - 1}
	begins := [3]int64{from - 1, from + r.Int64N(to-from+1), from}
	for site := range sites {
		s.Slots = append(s.Slots, int32(r.IntN(4)-1))
		if s.Over != nil {
			process := max(0, s.Slots[site])
			s.From = append(s.From, begins[process])
			s.Over = append(s.Over, ends[process])
			s.Heaps = append(s.Heaps, process*2+r.Int32N(3)-1)
		}
	}
	return s
}

// Ask finds the survivals that the rows define, whatever else the question asks for.
func TestSurvivals(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for round := range 150 {
		span, sites := int64(1)<<(1+r.IntN(44)), 1+r.IntN(9)
		rows := rowList(wild(uint64(round), r.IntN(300), sites, span))
		for i := range rows {
			if e := &rows[i]; e.End == EndExit && r.IntN(2) == 0 {
				e.FreeTime = span / 2
			}
		}
		q := Question{From: r.Int64N(span) - span/9, Sites: sites}
		q.To = q.From + r.Int64N(span)
		q.Survivals = survivalQuestion(r, sites, q.From, q.To)
		if round%2 == 0 {
			q.Peaks = groupings(r, sites)
		}
		if round%3 == 0 {
			q.Samples = 5
		}
		got, err := Ask(t.Context(), rows, q)
		if err != nil {
			t.Fatal(err)
		}
		survivals, left := survivalsOf(rows, &q)
		if !reflect.DeepEqual(got.Left, left) {
			t.Fatalf("round %d: left %+v, want %+v", round, got.Left, left)
		}
		if len(got.Survivals) != len(survivals) {
			t.Fatalf("round %d: %d survivals, want %d", round, len(got.Survivals), len(survivals))
		}
		for i := range survivals {
			if got.Survivals[i] != survivals[i] {
				t.Fatalf("round %d, %+v: survival %d\n%+v, want\n%+v", round, q.Survivals, i, got.Survivals[i], survivals[i])
			}
		}
	}
}

// The sums are right, too, where more rows come than the short numbers of one goroutine can count: those are added to
// the sums before, and begin anew.
func TestSurvivalsOfVeryManyRows(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	const span, sites = 1 << 20, 6
	rows := rowList(wild(7, 600, sites, span))
	q := Question{From: span / 9, To: span - span/7, Sites: sites}
	q.Survivals = survivalQuestion(r, sites, q.From, q.To)
	sums := func(after int) []Survival { // rows, until the numbers are full
		plan, err := q.survivalPlan()
		if err != nil {
			t.Fatal(err)
		}
		a := newSurvivalAdder(plan)
		a.rows(rows[:after])
		if after < len(rows) {
			a.added = 1<<31 - 1
		}
		a.rows(rows[after:])
		a.flush()
		return plan.sums
	}
	want := sums(len(rows))
	for _, after := range []int{1, len(rows) / 2, len(rows) - 1} {
		if got := sums(after); !reflect.DeepEqual(got, want) {
			t.Errorf("full after %d rows: %+v, want %+v", after, got, want)
		}
	}
}

func TestSurvivalQuestionsThatDoNotFit(t *testing.T) {
	for name, s := range map[string]*SurvivalQuestion{
		"no places":         {},
		"few ends":          {Slots: []int32{0, 1}, Over: []int64{1}},
		"many heaps":        {Slots: []int32{0, 1}, Heaps: make([]int32, 3)},
		"a place beyond":    {Slots: []int32{0, MaxSurvivals}},
		"two ends together": {Slots: []int32{0, 0}, Over: []int64{3, 4}},
	} {
		_, err := Ask(t.Context(), rowList{}, Question{To: 9, Sites: 2, Survivals: s})
		if e := (*evidence.Error)(nil); !errors.As(err, &e) || e.Code != CodeBounds {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPick(t *testing.T) {
	places, beyond := pick([]Usage{{2, 100}, {3, 1}, {9, 0}})
	if want := []int32{-1, 1, 0}; !reflect.DeepEqual(places, want) || beyond != 0 {
		t.Errorf("places %v, beyond %d", places, beyond)
	}
	many := make([]Usage, MaxSurvivals+10)
	for i := range many {
		many[i] = Usage{int64(3 + i), int64(i)}
	}
	if places, beyond = pick(many); beyond != 10 || places[9] != -1 || places[10] != MaxSurvivals-1 ||
		places[len(places)-1] != 0 {
		t.Errorf("beyond %d, places %v … %v", beyond, places[:12], places[len(places)-1])
	}
}

func TestBuckets(t *testing.T) {
	for lifetime, want := range map[uint64]int{0: 0, 1: 0, 2: 2, 3: 3, 4: 4, 5: 4, 6: 5, 7: 5, 8: 6,
		1 << 40: 80, math.MaxUint64: 127} {
		if got := Bucket(lifetime); got != want {
			t.Errorf("bucket of %d is %d, want %d", lifetime, got, want)
		}
	}
	for b := range LifetimeBuckets {
		floor := bucketFloor(b)
		if b != 1 && Bucket(floor) != b {
			t.Errorf("the floor %d of bucket %d is in bucket %d", floor, b, Bucket(floor))
		}
		if b > 1 && Bucket(floor-1) >= b {
			t.Errorf("%d, below the floor of bucket %d, is in bucket %d", floor-1, b, Bucket(floor-1))
		}
	}
}

// bucketFloor is the shortest lifetime of a bucket in ns. No lifetime is in bucket 1: there is none between 1 ns and 2
// ns.
func bucketFloor(b int) uint64 {
	if b%2 == 0 {
		return 1 << (b / 2)
	}
	return (rootTwo-1)>>(63-b/2) + 1 // rounded up: what is cut off is never nothing
}

func TestBins(t *testing.T) {
	for _, s := range []Survival{{From: 5, Over: 5}, {From: -3, Over: 60}, {From: 0, Over: 64}, {From: 0, Over: 1e12},
		{From: BeforeTrace + 1, Over: Never - 1}} {
		if s.Bin(s.From) != 0 || s.Bin(s.Over) >= SurvivalBins || s.BinFloor(0) != s.From ||
			s.BinFloor(SurvivalBins-1) > s.Over {
			t.Errorf("[%d, %d]: bins %d to %d, the last from %d", s.From, s.Over, s.Bin(s.From), s.Bin(s.Over),
				s.BinFloor(SurvivalBins-1))
		}
		for b := range s.Bin(s.Over) {
			if s.Bin(s.BinFloor(b)) != b || s.Bin(s.BinFloor(b+1)-1) != b {
				t.Errorf("[%d, %d]: bin %d from %d", s.From, s.Over, b, s.BinFloor(b))
			}
		}
	}
	s := Survival{Born: [SurvivalBins]int64{3, 4}, Left: [SurvivalBins]int64{1, 2}, LeftBytes: [SurvivalBins]int64{10, 20}}
	if born, left := s.Total(); born != 7 || left != (Usage{3, 30}) {
		t.Errorf("total %d, %+v", born, left)
	}
}
