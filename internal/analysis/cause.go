package analysis

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"heapdrift/ingest/capture/allocations"
	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/analysis/causes"
	"heapdrift/internal/analysis/score"
)

// LostTogether is a cause of leaks: it groups findings that are lost together: parts of one object, or of the objects
// that one event loses. A finding that shares its cause with no other has none.
type LostTogether struct {
	Number int    `json:"number"` // from 1 on; Finding.CauseNumber is one of them
	Title  string `json:"title"`  // for people: "lost objects of app!Session::Open"
	// CommonFrame is the innermost frame that calls all members, as signatures name it; "" where they share none.
	CommonFrame string `json:"owner,omitempty"`
	Ratio       string `json:"ratio"` // of the numbers of blocks, in the order of Members: "1 : 5 : 2"
	// Objects is how many objects were allocated in the run and not freed.
	Objects int64 `json:"objects"`
	// Verdict and Certain are the class of the gravest member, and whether it may fail a gate.
	Verdict Class `json:"verdict"`
	Certain bool  `json:"certain"`
	Amounts       // of all members together
	// Rate is the sum of the members' rates, without an interval; nil where not all have one in the same unit.
	Rate    *LostTogetherRate  `json:"rate,omitempty"`
	Members []LostTogetherPart `json:"members"` // in the order of the findings
}

// LostTogetherRate is how fast all members of a cause grow together.
type LostTogetherRate struct {
	Unit  string  `json:"unit"`  // "hour", or the name of the work counter
	Count float64 `json:"count"` // blocks per Unit
	Bytes float64 `json:"bytes"` // bytes per Unit
	// Span is how many Units the run lasted; 0 where an older version has not stored that.
	Span float64 `json:"span,omitempty"`
}

// State states the growth of a cause; a is what its members hold together.
func (c *LostTogetherRate) State(a *Amounts) score.StatedGrowth {
	return score.StateGrowth(c.Bytes, c.Unit, c.Span, a.grownBytes())
}

// StateRate states how fast a finding grows; nil where no rate is known.
func (f *Finding) StateRate() *score.StatedGrowth {
	if f.Rate == nil {
		return nil
	}
	g := f.Rate.State(f.grownBytes())
	return &g
}

// grownBytes are the bytes that the run grew by; nil where the evidence does not tell.
func (a *Amounts) grownBytes() *int64 {
	if a.Growth == nil {
		return nil
	}
	bytes := a.GrowthBeforeExit().Bytes
	return &bytes
}

// A LostTogetherPart is the part that one finding has of each object of its cause.
type LostTogetherPart struct {
	Signature     string  `json:"signature"`
	Title         string  `json:"title"`
	Blocks        int     `json:"blocks"`         // blocks of each object
	BytesPerBlock float64 `json:"size"`           // on average
	Type          string  `json:"type,omitempty"` // that the call allocates; "" where the compiler did not record it
}

// FindLostTogether is the cause that a finding shares with others; nil where it shares none.
func (r *Report) FindLostTogether(f *Finding) *LostTogether {
	if f.CauseNumber < 1 || f.CauseNumber > len(r.Causes) {
		return nil
	}
	return &r.Causes[f.CauseNumber-1]
}

// lostTogether counts the findings that share their cause with others.
func (r *Report) lostTogether() (n int) {
	for i := range r.Causes {
		n += len(r.Causes[i].Members)
	}
	return n
}

// CountText counts a cause and its findings: "1 leak in 3 stacks".
func (c *LostTogether) CountText() string {
	what := "1 cause in "
	if c.Verdict == ClassLeak {
		what = "1 leak in "
	}
	return what + quantity.Plural(len(c.Members), "stack")
}

// rateText says how fast a cause grows; "" where that is not known.
func (c *LostTogether) rateText() string {
	if c.Rate == nil || c.Rate.Bytes < 1 {
		return ""
	}
	return c.Rate.State(&c.Amounts).TextBeside()
}

// arrivals are the times when the blocks of a finding that stayed were allocated.
type arrivals struct {
	judge *judge
	came  []int64
	share score.AllocationProfile
}

// arrivals counts the blocks of a sample that stayed, by the interval of their allocation; nil if unknown.
func (j *judge) arrivals(s *sample) *arrivals {
	a := arrivals{judge: j, share: s.share}
	switch {
	case j.trace && s.survival != nil:
		a.came = score.ArrivalsOfSurvival(s.survival)
	case !j.trace && j.last-j.first >= 2:
		a.came = score.ArrivalsOfSeries(j.series(s))
	}
	if a.came == nil {
		return nil
	}
	return &a
}

// load estimates the share of the work done in each interval, by the other allocations of the process. It is nil if
// there are too few.
func (a *arrivals) load() func() []float64 {
	all := a.judge.intervals()
	if !a.judge.clock.Suffices(&a.share, all) {
		return nil
	}
	return func() []float64 { return cutLoad(a.judge.clock.Without(&a.share, all), len(a.came)) }
}

// intervals is the number of intervals in which the judge counts allocated blocks.
func (j *judge) intervals() int {
	if j.trace {
		return allocations.SurvivalBins
	}
	return len(j.axis.At) - 1
}

// clocks are the length of each of the first intervals and the work that uploads count in it; nil if unknown. The
// bins of a trace have one length.
func (j *judge) clocks(intervals int) (hours, work []float64) {
	if j.trace {
		return nil, nil
	}
	if j.axis.Hours != nil {
		hours = cutLoad(shares(j.axis.Hours), intervals)
	}
	if j.axis.Unit != hour && j.axis.Unit != perSnapshot {
		work = cutLoad(shares(j.axis.At), intervals)
	}
	return hours, work
}

// shares divides each interval by the length of the whole range.
func shares(at []float64) []float64 {
	list, span := make([]float64, len(at)-1), at[len(at)-1]-at[0]
	for i := range list {
		list[i] = (at[i+1] - at[i]) / span
	}
	return list
}

// coarse is the possible error of an interval's share of the time, where clocks count minutes.
func (d *draft) coarse() float64 {
	const minute = int64(time.Minute)
	isFine := func(s Snapshot) bool { return s.AtNS%minute != 0 }
	if d.report.Trace != nil || d.hours() == 0 || slices.ContainsFunc(d.judged, isFine) {
		return 0
	}
	return 1 / (d.hours() * 60)
}

// cutLoad is the first part of a load, in shares of 1.
func cutLoad(load []float64, n int) []float64 {
	if len(load) <= n {
		return load
	}
	sum, list := 0.0, slices.Clone(load[:n])
	for _, v := range list {
		sum += v
	}
	if sum > 0 {
		for i := range list {
			list[i] /= sum
		}
	}
	return list
}

const (
	// trunkSample is how many findings, the gravest first, are examined for frames that much of the program runs through.
	trunkSample = 1024
	// With manyFindings or more, a frame that more than half of them hold owns no object.
	manyFindings = 20
)

// findCauses groups the findings that are lost together. Findings that the project's rules mark as known are in no
// cause: they are not counted.
func (d *draft) findCauses(ctx context.Context) error {
	places, list := d.mayBeParts()
	if len(list) > 1 {
		var scratch scratch
		run := causes.Run{IsTrunk: d.trunk(&scratch), Coarse: d.coarse()}
		run.Time, run.Work = d.findings[places[0]].arrivals.judge.clocks(len(list[0].StayedByInterval))
		groups, err := causes.Find(ctx, list, run)
		if err != nil {
			return fmt.Errorf("analysis: %w", err)
		}
		sites := d.firstSites(groups)
		for _, g := range groups {
			for n, k := range g.LeakIndexes {
				g.LeakIndexes[n] = places[k]
			}
			d.addCause(&g, sites, &scratch)
		}
	}
	return nil
}

// mayBeParts lists the findings that may be parts of a cause, with their indexes.
func (d *draft) mayBeParts() (places []int, list []causes.Leak) {
	var grown []int
	for i, f := range d.findings {
		if f.arrivals != nil {
			grown = append(grown, i)
		}
	}
	leaks, known := make([]causes.Leak, len(grown)), make([]string, len(grown))
	inParts(len(grown), func(from, to int) {
		var scratch scratch
		for n := from; n < to; n++ {
			f := d.findings[grown[n]]
			leaks[n] = causes.Leak{StayedByInterval: f.arrivals.came, Load: f.arrivals.load()}
			known[n], leaks[n].Frames = f.names(&scratch)
		}
	})
	for n, i := range grown {
		if known[n] == "" {
			places, list = append(places, i), append(list, leaks[n])
		}
	}
	return places, list
}

// names returns why a finding is known and the frames of its signature, even before these are filled in.
func (f *Finding) names(s *scratch) (known string, frames []string) {
	if f.from == nil {
		return f.Known, f.Frames
	}
	t := f.from.frames.describe(s, f.from.stack, f.from.key.kind)
	return t.Known, t.Frames
}

// trunk finds the frames that more than half of the findings hold: dispatchers and message loops.
func (d *draft) trunk(s *scratch) func(frame string) bool {
	held, n := map[string]int{}, min(trunkSample, len(d.findings))
	for _, f := range d.findings[:n] {
		_, frames := f.names(s)
		for k, frame := range frames {
			if !slices.Contains(frames[:k], frame) {
				held[frame]++
			}
		}
	}
	return func(frame string) bool { return n >= manyFindings && held[frame] > n/2 }
}

// addCause adds a cause and marks its findings.
func (d *draft) addCause(g *causes.Group, sites map[string]int, s *scratch) {
	r := d.report
	c := LostTogether{Number: len(r.Causes) + 1, CommonFrame: g.CommonFrame, Objects: g.Objects}
	var ratio []string
	for n, i := range g.LeakIndexes {
		f := d.findings[i]
		f.CauseNumber = c.Number
		f.describe(s)
		part := LostTogetherPart{Signature: f.Signature, Title: f.Title, Blocks: g.Ratio[n],
			Type: r.typeOf(sites, f.Signature)}
		if held := f.GrowthBeforeExit(); held.Count > 0 {
			part.BytesPerBlock = float64(held.Bytes) / float64(held.Count)
		}
		c.Members = append(c.Members, part)
		ratio = append(ratio, strconv.Itoa(g.Ratio[n]))
		if n == 0 {
			c.Amounts, c.Verdict, c.Rate = f.Amounts, f.Verdict, rateOf(&f.Finding)
		} else {
			c.Amounts, c.Rate = addAmounts(c.Amounts, f.Amounts), c.Rate.plus(rateOf(&f.Finding))
		}
		if f.Verdict.Gravity() > c.Verdict.Gravity() {
			c.Verdict = f.Verdict
		}
		c.Certain = c.Certain || f.Certain
	}
	c.Ratio = strings.Join(ratio, " : ")
	c.Title = "lost together: " + c.Members[0].Title + " and " + quantity.Plural(len(c.Members)-1, "more site")
	if c.CommonFrame != "" {
		c.Title = "lost objects of " + ownerName(c.CommonFrame)
	}
	isTaken := func(o LostTogether) bool { return o.Title == c.Title }
	for n, title := 2, c.Title; slices.ContainsFunc(r.Causes, isTaken); n++ {
		c.Title = fmt.Sprintf("%s (%d)", title, n) // lists distinguish causes by it
	}
	r.Causes = append(r.Causes, c)
}

// ownerName is a frame of a signature as users read it: module and offset where it has no function.
func ownerName(frame string) string {
	module, offset, unnamed := strings.Cut(frame, blame.UnnamedFrame)
	if !unnamed {
		return frame
	}
	offset, _, _ = strings.Cut(offset, "@")
	return strings.TrimSuffix(module, "!") + "+" + offset
}

func rateOf(f *Finding) *LostTogetherRate {
	if f.Rate == nil {
		return nil
	}
	return &LostTogetherRate{f.Rate.Unit, f.Rate.Count, f.Rate.Bytes, f.Rate.Length()}
}

// plus adds two rates; it is nil where one is nil or their units differ.
func (c *LostTogetherRate) plus(o *LostTogetherRate) *LostTogetherRate {
	if c == nil || o == nil || c.Unit != o.Unit {
		return nil
	}
	return &LostTogetherRate{c.Unit, c.Count + o.Count, c.Bytes + o.Bytes, max(c.Span, o.Span)}
}

// firstSites are the indexes of the first site of each signature; nil where there is no group.
func (d *draft) firstSites(groups []causes.Group) map[string]int {
	if len(groups) == 0 {
		return nil
	}
	r, first := d.report, make(map[string]int, len(d.findings))
	for i := range r.Sites {
		if _, known := first[r.Sites[i].Signature]; !known {
			first[r.Sites[i].Signature] = i
		}
	}
	return first
}

// typeOf is the type that the allocating call of a signature allocates; "" where the compiler recorded none.
func (r *Report) typeOf(sites map[string]int, signature string) string {
	at, ok := sites[signature]
	if !ok {
		return ""
	}
	for _, f := range r.Stack(r.Sites[at].Stack) {
		if f.Type != "" {
			return f.Type
		}
	}
	return ""
}
