package analysis

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis/score"
)

// A draftFinding is a finding with what it is weighed and grouped by.
type draftFinding struct {
	Finding
	most     float64   // bytes that it can have leaked in the run at most
	arrivals *arrivals // nil of what does not grow
}

// findings groups sites, in the order of the report, by signature and judges each group as a whole. Memory that heaps
// took from the system is in no finding: the blocks of the heaps tell where it went.
func (s *series) findings(ctx context.Context, j *judge, sites []*judgedSite) ([]*draftFinding, error) {
	groups := groupsOf(sites)
	evidence := string(s.parts[len(s.parts)-1].Kind)
	list, made := make([]*draftFinding, len(groups)), make([]draftFinding, len(groups))
	inParts(len(groups), func(from, to int) {
		for i := from; i < to; i++ {
			if i%256 == 0 && ctx.Err() != nil {
				return
			}
			made[i] = findingOf(j, evidence, groups[i])
			if f := &made[i].Finding; groups[i][0].left != nil {
				f.judgeLeft(s, groups[i])
				f.ByKind[0].Verdict = f.Verdict
			}
			list[i] = &made[i]
		}
	})
	if ctx.Err() != nil {
		return nil, fmt.Errorf("analysis: %w", context.Cause(ctx))
	}
	sortFindings(list, (*draftFinding).finding)
	return list, nil
}

// groupsOf divides sites by signature, in the order of the first of each.
func groupsOf(sites []*judgedSite) [][]*judgedSite {
	at, of, counts := make(map[string]int32, len(sites)/4), make([]int32, len(sites)), []int(nil)
	for i, site := range sites {
		of[i] = -1
		if site.key.kind == capture.KindHeapVirtual {
			continue
		}
		group := &site.placed.groups[site.key.kind] // several sites may have one stack
		if *group == 0 {
			n, ok := at[site.signature]
			if !ok {
				n = int32(len(counts))
				at[site.signature], counts = n, append(counts, 0)
			}
			*group = n + 1
		}
		of[i] = *group - 1
		counts[of[i]]++
	}
	all, groups := make([]*judgedSite, len(sites)), make([][]*judgedSite, len(counts))
	for n, count := range counts {
		groups[n], all = all[:0:count], all[count:]
	}
	for i, n := range of {
		if n >= 0 {
			groups[n] = append(groups[n], sites[i])
		}
	}
	return groups
}

// SortFindings orders findings, no two of one signature: the gravest first, and of one class the surest and fastest.
func SortFindings(list []*Finding) {
	sortFindings(list, func(f *Finding) *Finding { return f })
}

func (f *draftFinding) finding() *Finding { return &f.Finding }

// sortFindings orders what has findings.
func sortFindings[T any](list []T, of func(T) *Finding) {
	order := ranking[T]{numbers: make([]func(T) int64, len(findingNumbers)), rest: func(equals []T) {
		slices.SortFunc(equals, func(a, b T) int { return cmp.Compare(of(a).Signature, of(b).Signature) })
	}}
	for i, number := range findingNumbers {
		order.numbers[i] = func(f T) int64 { return number(of(f)) }
	}
	order.sort(list)
}

// describeFirst fills in the facts of the first findings that come from names and that judging does not need. The
// other findings get these facts when they are written.
func (d *draft) describeFirst(ctx context.Context, first int) error {
	list := d.findings[:first]
	inParts(len(list), func(from, to int) {
		var scratch scratch
		for i := range list[from:to] {
			if i%256 == 0 && ctx.Err() != nil {
				return
			}
			list[from+i].describe(&scratch)
		}
	})
	if ctx.Err() != nil {
		return fmt.Errorf("analysis: %w", context.Cause(ctx))
	}
	return nil
}

func (f *Finding) describe(scratch *scratch) {
	if f.from == nil {
		return
	}
	t := f.from.frames.describe(scratch, f.from.stack, f.from.key.kind)
	f.Title, f.Blame, f.Origin, f.Frames, f.Fine, f.Leaf, f.Provisional, f.Outline = t.Title,
		f.from.frames.blamed(f.from.stack), t.origin, t.Frames, t.Fine, t.Leaf, t.Provisional, t.outline
	f.Owner, f.Known, f.Group = t.Owner, t.Known, t.Group
	if f.why != nil {
		f.Clauses = append(f.why(), f.Clauses...)
	}
	f.from, f.why = nil, nil
}

// findingOf makes the finding of sites that have one signature. The sites are judged together, as one place in the
// program, and each by itself, because the blocks that one site frees may hide those that another keeps. The gravest
// judgement counts.
func findingOf(j *judge, evidence string, sites []*judgedSite) draftFinding {
	first := sites[0]
	f := draftFinding{Finding: Finding{
		Signature: first.signature, Kind: first.key.kind.String(), Sites: len(sites), Amounts: first.Amounts, from: first,
	}}
	var agreed Amount
	for _, site := range sites {
		if u := site.unreachable; u != nil {
			f.Unreachable = new(orNone(f.Unreachable).Plus(*u))
		}
		agreed = agreed.Plus(site.agreed)
	}
	all, gravest, result := &first.sample, &first.sample, first.result
	samples := []*sample{gravest}
	for _, site := range sites[1:] {
		samples = append(samples, &site.sample)
		if graver(&site.result, &result) {
			gravest, result = &site.sample, site.result
		}
	}
	if len(sites) > 1 {
		together := sumOf(samples)
		all, f.Amounts = &together, together.amounts
		if r := j.of(&together); !graver(&result, &r) {
			gravest, result = &together, r
		}
	}
	if !j.trace {
		f.Growth = j.growth(all)
	}
	f.most = j.mostLeaked(all, result.Class, &f.Finding)
	f.Verdict, f.Certain, f.Evidence, f.Stayed = result.Class, result.Certain, result.Evidence, j.stayed(all)
	f.MostHeld = j.mostHeld(all)
	if f.Verdict.IsSuspect() {
		f.Rate, f.arrivals = result.Rate, j.arrivals(all)
	}
	if result.Scored() {
		f.Score = new(result.Score)
	}
	if asksWhy(result.Class) {
		f.why = func() []score.Clause { return j.explain(gravest) }
	}
	f.judgeUnreferenced(first.blamed, agreed)
	f.ByKind = []KindResult{{Kind: evidence, Verdict: f.Verdict, Score: f.Score, Amounts: f.Amounts}}
	return f
}

// asksWhy reports whether somebody wants to know why something has a class.
func asksWhy(c Class) bool { return c != ClassStable && c != ClassTransient && c != ClassUnknown }

func graver(a, b *score.Result) bool {
	return cmp.Or(cmp.Compare(a.Class.Gravity(), b.Class.Gravity()), cmp.Compare(a.Score, b.Score)) > 0
}

// findingNumbers are what findings are ordered by, the largest first: the gravest, and of one class the surest and
// fastest.
var findingNumbers = []func(*Finding) int64{
	func(f *Finding) int64 { return int64(f.Verdict.Gravity()) },
	func(f *Finding) int64 { return scoreNumber(f.Score) },
	func(f *Finding) int64 { return f.GrowthBeforeExit().Bytes },
	func(f *Finding) int64 { return f.GrowthBeforeExit().Count },
	func(f *Finding) int64 { return f.Outstanding.Bytes },
}

// scoreNumber is a number that is ordered as CompareScores orders scores, none of which is below 0.
func scoreNumber(p *float64) int64 {
	switch {
	case p == nil:
		return -2
	case math.IsNaN(*p):
		return -1
	}
	return int64(math.Float64bits(*p + 0)) // + 0 makes −0 0
}

// CompareScores orders scores ascending; nil is less than every score.
func CompareScores(a, b *float64) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return cmp.Compare(*a, *b)
}

// addOtherKind adds what other evidence of the same run says. Findings that only the other evidence has come behind
// those of the report; where that evidence has losses, none of them is a certain leak. Evidence without inlined calls
// is added to all findings that have one signature in it.
func (d *draft) addOtherKind(other *draft) {
	d.testLeaks = append(d.testLeaks, other.testLeaks...)
	at := map[string][]int{}
	for i, f := range d.findings {
		at[f.Signature] = append(at[f.Signature], i)
		if f.Outline != "" {
			at[f.Outline] = append(at[f.Outline], i)
		}
	}
	lossy := firstLossy(other.report.Warnings) != nil || other.doubted != nil
	for _, f := range other.findings {
		same := at[f.Signature]
		if same == nil && f.Outline != "" {
			same = at[f.Outline]
		}
		for _, k := range same {
			d.findings[k].ByKind = append(d.findings[k].ByKind, f.ByKind...)
			d.findings[k].takeLeft(&f.Finding)
			d.findings[k].Joined = append(d.findings[k].Joined, f.Joined...)
			if d.findings[k].Unreachable == nil {
				d.findings[k].Unreachable = f.Unreachable
			}
		}
		if same != nil || !f.Verdict.IsSuspect() || f.Verdict == ClassGrowing && len(other.report.Snapshots) < SnapshotsToDecide { // that may be anything
			continue
		}
		f.Sites, f.arrivals = 0, nil // none of the report's
		if lossy && f.Verdict != ClassLeftAtExit {
			f.Verdict, f.Certain = ClassGrowing, false
		}
		d.findings = append(d.findings, f)
	}
	sortFindings(d.findings, (*draftFinding).finding)
}

// otherKindWarnings are the warnings that limit another kind of evidence. Warnings about symbols do not concern the
// report's own evidence, and losses of another kind of evidence do not make the verdict inconclusive.
func otherKindWarnings(list []Warning) []Warning {
	var out []Warning
	for _, w := range list {
		switch {
		case w.Code == capture.NoSymbols, w.Code == capture.SymbolsPending:
		case w.Code.Lossy():
			w.Message = fmt.Sprintf("This evidence alone confirms no leak (%s): %s", w.Code, w.Message)
			w.Code = capture.Unsupported
			out = append(out, w)
		default:
			out = append(out, w)
		}
	}
	return out
}
