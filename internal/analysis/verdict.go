package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis/score"
)

// SnapshotsToDecide is how many snapshots a statement about a leak needs: with fewer, growth that has come to
// its end looks the same as growth that goes on.
const SnapshotsToDecide = score.SnapshotsToJudge

// A tally counts what the findings of a report say. Those that the project's rules know are in known only.
type tally struct {
	certain, leaks, growing, known int
	leakCauses, growingCauses      int // of the leaks, and of what grows beside them: one where several are lost together
	unreferenced                   int // of those that grow or may, what no pointer reaches
	agreed                         int // of those, what several dumps find no pointer to
	left                           leftTally
	leaked                         Amount        // by causes of leaks, as of the instant before the process ended
	top                            *Finding      // the leak, else what grows, that holds most
	topCause                       *LostTogether // the cause of several findings that leaks and holds most; nil for none
}

func (d *draft) tally() tally {
	var t tally
	for i := range d.findings {
		f := &d.findings[i].Finding
		if !f.Verdict.IsSuspect() {
			continue
		}
		if f.Known != "" {
			t.known++
			continue
		}
		if f.Verdict == ClassLeftAtExit {
			t.left.add(f)
			continue
		}
		t.countCause(d.report, f)
		if f.Verdict != ClassLeak {
			t.growing++
			if f.Verdict == ClassUnreferenced {
				t.unreferenced++
				if f.Certain {
					t.agreed++
				}
			}
		} else {
			t.leaks++
			if f.Certain {
				t.certain++
			}
		}
		if t.top == nil || f.Verdict.Gravity() > t.top.Verdict.Gravity() ||
			f.Verdict == t.top.Verdict && f.GrowthBeforeExit().Bytes > t.top.GrowthBeforeExit().Bytes {
			t.top = f
		}
	}
	return t
}

// countCause counts the cause of a finding, once for all that are lost together: as a leak where one of them is.
func (t *tally) countCause(r *Report, f *Finding) {
	class, first := f.Verdict, true
	if c := r.FindLostTogether(f); c != nil {
		class, first = c.Verdict, c.Members[0].Signature == f.Signature
		if first && class == ClassLeak &&
			(t.topCause == nil || c.GrowthBeforeExit().Bytes > t.topCause.GrowthBeforeExit().Bytes) {
			t.topCause = c
		}
	}
	if class == ClassLeak {
		t.leaked = t.leaked.Plus(f.GrowthBeforeExit())
	}
	switch {
	case !first:
	case class == ClassLeak:
		t.leakCauses++
	default:
		t.growingCauses++
	}
}

// decide draws the conclusion.
func (d *draft) decide() EvidenceVerdict {
	r := d.report
	t, lossy := d.tally(), cmp.Or(firstLossy(r.Warnings), d.doubted)
	v := EvidenceVerdict{Status: StatusInconclusive, Leaks: t.leaks, Causes: t.leakCauses, Known: t.known}
	if d.shape == capture.ShapeExit {
		d.decideLeft(&v, &t, lossy)
		return v
	}
	if t.agreed > 0 && lossy == nil { // several dumps say so: growth need not be seen
		v.Status, v.Leaks, v.Causes = StatusLeak, t.leaks+t.agreed, t.leakCauses+t.agreed
		v.Sentence = d.sentence(&v, &t, "")
		return v
	}
	if n := len(d.judged); n < SnapshotsToDecide && r.Trace == nil {
		v.SnapshotsMissing = SnapshotsToDecide - n
	}
	r.Observation = &Observation{}
	weighed := r.PartLengths != nil && !d.listsNothing() && !cutShort(d.judged)
	if weighed {
		matters, undecided := d.weigh()
		v.Matters, v.MattersSentence, v.Undecided = &matters.Growth, matters.Sentence, undecided
		if v.SnapshotsMissing > 0 && lossy == nil && t.unreferenced == 0 && d.most() <= nothingCame {
			v.SnapshotsMissing = 0 // too little came in all for a leak that matters, whatever it is
		}
	}
	if v.SnapshotsMissing == 0 && lossy == nil && !isAbsent(r) && !isInstant(r) {
		switch {
		case t.certain > 0:
			v.Status = StatusLeak
		case v.Undecided != nil && v.Undecided.Sites == 0 && t.unreferenced == 0, t.leaks+t.growing == 0:
			v.Status = StatusNoLeak
		}
	}
	said, next := d.doubt(&v, &t, lossy)
	v.Next = next
	v.Sentence = d.sentence(&v, &t, said)
	if t.left.certain > 0 { // beside evidence that decides by growth
		v.Leaks, v.Causes = v.Leaks+t.left.certain, v.Causes+t.left.certain
		left := t.left.sentence(nameOf(r)) + "."
		if v.Status == StatusLeak {
			v.Sentence += " " + left
		} else {
			v.Status, v.Next, v.Sentence = StatusLeak, nil, left+" "+v.Sentence
		}
	}
	return v
}

// cutShort reports whether a snapshot lists fewer blocks than there were, so that what came in the run is not known.
func cutShort(list []Snapshot) bool {
	return slices.ContainsFunc(list, func(s Snapshot) bool { return s.LowerBound })
}

// Suffices reports whether the evidence lost nothing, lists all memory, is of one process for certain, and is enough to
// judge growth: only then is the run judged together with others. A report that an older version wrote does not store
// all of that.
func (r *Report) Suffices() bool {
	if known := r.Verdict.Suffices; known != nil {
		return *known
	}
	shows := r.Trace == nil || r.Window != nil && !isAbsent(r) && !isInstant(r)
	return r.Verdict.SnapshotsMissing == 0 && firstLossy(r.Warnings) == nil && !cutShort(r.Snapshots) && shows
}

// suffices is Suffices, by what only the draft tells as well.
func (d *draft) suffices() bool {
	few := d.report.Trace == nil && d.shape != capture.ShapeExit && len(d.judged) > 0 && len(d.judged) < SnapshotsToDecide
	return d.report.Suffices() && !few && d.doubted == nil && d.listsAll() && !d.samplesList()
}

// sentence writes the verdict and the facts that it rests on.
func (d *draft) sentence(v *EvidenceVerdict, t *tally, doubt string) string {
	var s string
	r := d.report
	switch {
	case d.listsNothing():
		s = headline(r)
	case v.Status == StatusLeak && t.certain > 0:
		s = leaks(r, t)
	case v.Status == StatusLeak:
		u, _ := d.tallyUnreferenced()
		s = u.sentence(nameOf(r)) + fmt.Sprintf("; %d or more dumps agree", dumpsToAgree)
	case r.Trace != nil:
		s = whatOfTrace(r, t) + "; " + d.conclusion(v, t, doubt)
	default:
		s = d.what(t) + "; " + d.conclusion(v, t, doubt)
	}
	if end := r.MemoryHistory.DescribeFirstLimit(); end != "" && !d.listsNothing() { // the headline has it
		s += "; " + end
	}
	if t.known > 0 {
		s += "; " + quantity.Plural(t.known, "known site") + " not counted"
	}
	return s + "."
}

// leaks says who leaks how much, and from where.
func leaks(r *Report, t *tally) string {
	top, c := t.top.GrowthBeforeExit(), t.topCause
	s := fmt.Sprintf("%s leaks %s in %s", nameOf(r), quantity.Bytes(t.leaked.Bytes), blocks(t.leaked.Count))
	if t.leakCauses == 1 && c != nil {
		return fmt.Sprintf("%s: %s, %s, ratio %s%s", s, c.CountText(), c.Title, c.Ratio, c.rateText())
	}
	if t.leaks == 1 {
		return fmt.Sprintf("%s from %s%s", s, t.top.Where(), perUnit(t.top))
	}
	from := quantity.Plural(t.leaks, "site")
	if t.leakCauses < t.leaks {
		from = fmt.Sprintf("%d leaks in %d stacks", t.leakCauses, t.leaks)
	}
	s += " from " + from + "; the most, "
	if c != nil && c.GrowthBeforeExit().Bytes > top.Bytes {
		most := c.GrowthBeforeExit()
		return s + fmt.Sprintf("%s in %s, %s%s", quantity.Bytes(most.Bytes), blocks(most.Count), c.Title, c.rateText())
	}
	return s + fmt.Sprintf("%s in %s, from %s%s", quantity.Bytes(top.Bytes), blocks(top.Count), t.top.Where(),
		perUnit(t.top))
}

// perUnit says how fast a finding grows.
func perUnit(f *Finding) string {
	if f.Rate == nil || f.Rate.Bytes < 1 {
		return ""
	}
	return f.StateRate().TextBeside()
}

// nameOf is how a sentence calls the process.
func nameOf(r *Report) string {
	switch {
	case r.Process.Name != "":
		return r.Process.Name
	case r.Trace != nil:
		return "Process " + strconv.FormatUint(uint64(r.Process.PID), 10)
	}
	return "The process"
}

// what describes what the snapshots show.
func (d *draft) what(t *tally) string {
	r := d.report
	name, n := nameOf(r), len(d.judged)
	if u, ok := d.tallyUnreferenced(); ok {
		return u.sentence(name)
	}
	total := r.Totals.Heap.Outstanding.Plus(r.Totals.Virtual.Outstanding)
	if n == 1 {
		s := fmt.Sprintf("%s holds %s in %s in one snapshot", name, quantity.Bytes(total.Bytes),
			blocks(total.Count)) + most(d.findings, total)
		if size := describeLargestGroup(r); size != "" {
			s += "; " + size
		}
		return s
	}
	if len(r.Sites) == 0 && n == 2 {
		return name + ": no call stack changed between the two snapshots"
	}
	if t.top == nil {
		return fmt.Sprintf("%s: no site keeps growing over %d snapshots; it holds %s in %s", name, n,
			quantity.Bytes(total.Bytes), blocks(total.Count))
	}
	from, to := d.judged[0], d.judged[n-1]
	growth := Amount{to.Count - from.Count, to.Bytes - from.Bytes}
	top := t.top.GrowthBeforeExit()
	s := fmt.Sprintf("%s grew by %s in %s over %d snapshots", name, quantity.Bytes(growth.Bytes), blocks(growth.Count), n)
	if growth.Bytes <= 0 {
		s = fmt.Sprintf("%s shrank by %s over %d snapshots while %s grew", name, quantity.Bytes(-growth.Bytes), n, places(t))
	}
	return fmt.Sprintf("%s; the most, %s in %s, from %s", s, quantity.Bytes(top.Bytes), blocks(top.Count), t.top.Where())
}

// most names the site with a stack that holds most at one instant.
func most(findings []*draftFinding, total Amount) string {
	var top *Finding
	var bare Amount // heap memory without a call stack: other memory of a dump never has one
	for i := range findings {
		if f := &findings[i].Finding; !f.hasBlame() && f.Kind == capture.KindHeap.String() {
			bare = bare.Plus(f.Outstanding)
		} else if f.hasBlame() && (top == nil || f.Outstanding.Bytes > top.Outstanding.Bytes) {
			top = f
		}
	}
	switch {
	case top == nil:
		return ""
	case top.Outstanding == total:
		return ", all from " + top.Where()
	}
	if s := bareShare(bare, total); s != "" {
		return s + fmt.Sprintf(", %s of it from %s", quantity.Bytes(top.Outstanding.Bytes), top.Where()) +
			traceBare(bare, total)
	}
	s := fmt.Sprintf(", the most, %s in %s", quantity.Bytes(top.Outstanding.Bytes), blocks(top.Outstanding.Count))
	share := 100 * float64(top.Outstanding.Bytes) / float64(max(total.Bytes, 1))
	if share >= NamedPercent && share <= 100 {
		s += fmt.Sprintf(" (%s %%)", percent(share))
	}
	return s + ", from " + top.Where()
}

// places counts what leaks or grows.
func places(t *tally) string { return countOf(t.leakCauses+t.growingCauses, t.leaks+t.growing) }

// countOf counts places, and their causes where these are fewer.
func countOf(causes, places int) string {
	if causes < places {
		return fmt.Sprintf("%s in %s", quantity.Plural(causes, "cause"), quantity.Plural(places, "site"))
	}
	return quantity.Plural(places, "site")
}

// conclusion says what the evidence allows to conclude: that there is no leak, or why that is in doubt and which
// further evidence would decide.
func (d *draft) conclusion(v *EvidenceVerdict, t *tally, doubt string) string {
	switch {
	case v.Status == StatusNoLeak:
		return d.noLeak(v, t)
	case v.Next == nil:
		return doubt
	case doubt == "":
		return inSentence(v.Next.Sentence)
	}
	return doubt + ": " + inSentence(v.Next.Sentence)
}

// noLeak says that no leak that matters was found, what the evidence would have shown, and what still grows could leak.
func (d *draft) noLeak(v *EvidenceVerdict, t *tally) string {
	s := "no leak found"
	if u := v.Undecided; u != nil && u.Largest != nil && t.leaks+t.growing > 0 {
		s = fmt.Sprintf("no leak of %s or more found; growing sites are expected to leak %s, most of it in %s (at most %s)",
			u.Limit, u.Expected, u.Largest.where, u.Largest.Growth)
	}
	switch {
	case d.report.Power != nil:
		s += "; the evidence " + inSentence(d.report.Power.Sentence)
	case d.powerless != "":
		s += "; " + d.powerless
	}
	return s
}

// undecided says what could leak.
func undecided(u *Undecided) string {
	if u.Sites == 1 {
		return fmt.Sprintf("not decided: %s could leak %s (limit %s)", u.Largest.where,
			u.Largest.Growth, u.Limit)
	}
	return fmt.Sprintf("not decided: %s and %s could leak, the first %s (limit %s)",
		u.Largest.where, quantity.Plural(u.Sites-1, "more site"), u.Largest.Growth, u.Limit)
}

func firstLossy(warnings []Warning) *Warning {
	for i := range warnings {
		if warnings[i].Code.Lossy() {
			return &warnings[i]
		}
	}
	return nil
}

// readerWarnings passes on what the readers said, each with its file.
func readerWarnings(parts []part) []Warning {
	var list []Warning
	for _, p := range parts {
		for _, w := range p.Warnings {
			list = append(list, Warning{Code: w.Code, Message: w.Message, Count: w.Count, File: p.file, Place: w.Place})
		}
	}
	return list
}
