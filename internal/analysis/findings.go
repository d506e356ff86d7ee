package analysis

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis/score"
)

// A judgedSite is a site of the report with what it was judged by.
type judgedSite struct {
	*Site
	kind   capture.SiteKind
	tell   func() told
	sample sample
	result score.Result
	agreed Amount // of what no pointer reaches, what several dumps say so of
}

// findings groups sites, in the order of the report, by signature and judges each group as a whole. What heaps took from
// the system is in no finding: the heaps' blocks tell.
func (s *series) findings(ctx context.Context, j *judge, sites []*judgedSite) ([]Finding, error) {
	groups, order := map[string][]*judgedSite{}, []string(nil)
	for _, site := range sites {
		if site.kind == capture.KindHeapVirtual {
			continue
		}
		if groups[site.Signature] == nil {
			order = append(order, site.Signature)
		}
		groups[site.Signature] = append(groups[site.Signature], site)
	}
	evidence := string(s.parts[len(s.parts)-1].Kind)
	list := make([]Finding, 0, len(order))
	for i, signature := range order {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, fmt.Errorf("analysis: %w", context.Cause(ctx))
		}
		list = append(list, findingOf(j, evidence, groups[signature]))
	}
	slices.SortStableFunc(list, func(a, b Finding) int { return CompareFindings(&a, &b) })
	return list, nil
}

// findingOf makes the finding of sites that have one signature. They are judged together, as one place in the program, and
// each by itself, because what one of them holds on to may hide behind what another lets go: the gravest counts.
func findingOf(j *judge, evidence string, sites []*judgedSite) Finding {
	first := sites[0]
	t := first.tell()
	f := Finding{
		Signature: first.Signature, Kind: first.Kind, Title: t.Title, Sites: len(sites), Blame: first.Blame, Origin: t.origin,
		Frames: t.Frames, Fine: t.Fine, Leaf: t.Leaf, Provisional: t.Provisional, Outline: t.outline,
		Owner: t.Owner, Known: t.Known, Group: t.Group, Amounts: first.Amounts,
	}
	var agreed Amount
	for _, site := range sites {
		if u := site.Unreachable; u != nil {
			f.Unreachable = new(sum(orNone(f.Unreachable), *u))
		}
		agreed = sum(agreed, site.agreed)
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
	f.Verdict, f.Certain, f.Evidence = result.Class, result.Certain, result.Evidence
	if f.Verdict.IsSuspect() {
		f.Rate = result.Rate
	}
	if result.Class != ClassUnknown {
		f.Score = new(result.Score)
	}
	switch result.Class {
	case ClassStable, ClassTransient, ClassUnknown: // nobody asks why
	default:
		f.Clauses = j.explain(gravest)
	}
	f.judgeUnreferenced(agreed)
	f.Witnesses = []Witness{{Kind: evidence, Verdict: f.Verdict, Score: f.Score, Amounts: f.Amounts}}
	return f
}

func graver(a, b *score.Result) bool {
	return cmp.Or(cmp.Compare(a.Class.Gravity(), b.Class.Gravity()), cmp.Compare(a.Score, b.Score)) > 0
}

// CompareFindings puts the gravest first, the surest and fastest of one class before others.
func CompareFindings(a, b *Finding) int {
	x, y := a.BeforeExit(), b.BeforeExit()
	return cmp.Or(cmp.Compare(b.Verdict.Gravity(), a.Verdict.Gravity()), CompareScores(b.Score, a.Score), cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(y.Count, x.Count),
		cmp.Compare(b.Outstanding.Bytes, a.Outstanding.Bytes), cmp.Compare(a.Signature, b.Signature))
}

// CompareScores orders scores ascending, with none below every score.
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

// takeWitness adds what other evidence of the same run says. Findings that only that has come behind those of the report; where it
// has losses, none of them is a leak for certain. Evidence without inlined calls is a witness of all that are one to it.
func takeWitness(r, other *Report) {
	at := map[string][]int{}
	for i := range r.Findings {
		f := &r.Findings[i]
		at[f.Signature] = append(at[f.Signature], i)
		if f.Outline != "" {
			at[f.Outline] = append(at[f.Outline], i)
		}
	}
	lossy := firstLossy(other.Warnings) != nil || other.doubted != nil
	for i := range other.Findings {
		f := &other.Findings[i]
		same := at[f.Signature]
		if same == nil && f.Outline != "" {
			same = at[f.Outline]
		}
		for _, k := range same {
			r.Findings[k].Witnesses = append(r.Findings[k].Witnesses, f.Witnesses...)
			if r.Findings[k].Unreachable == nil {
				r.Findings[k].Unreachable = f.Unreachable
			}
		}
		if same != nil || !f.Verdict.IsSuspect() || f.Verdict == ClassGrowing && len(other.Snapshots) < SnapshotsToDecide { // that may be anything
			continue
		}
		only := *f
		only.Sites = 0 // none of the report's
		if lossy {
			only.Verdict, only.Certain = ClassGrowing, false
		}
		r.Findings = append(r.Findings, only)
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return CompareFindings(&a, &b) })
}

// witnessWarnings are what limits what a witness says. The report's own evidence has its own symbols, and what a witness lost makes
// no verdict on it inconclusive.
func witnessWarnings(list []Warning) []Warning {
	var out []Warning
	for _, w := range list {
		switch {
		case w.Code == capture.NoSymbols:
		case w.Code.Lossy():
			w.Message = fmt.Sprintf("of evidence beside that of the verdict, which proves nothing by itself therefore: %s (%s)", w.Message, w.Code)
			w.Code = capture.Unsupported
			out = append(out, w)
		default:
			out = append(out, w)
		}
	}
	return out
}
