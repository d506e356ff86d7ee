package leaks

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"heapdrift/ingest/evidence"
	"heapdrift/ingest/quantity"
	"heapdrift/internal/intake"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// evidenceKinds are the kinds of evidence that may show a leak: those that watch stacks first, then those that have the
// content of memory.
var evidenceKinds = kindsOf(intake.Formats())

func kindsOf(formats evidence.Formats) []leaks.EvidenceKind {
	formats = slices.Clone(formats)
	slices.SortStableFunc(formats, func(a, b evidence.Format) int {
		return cmp.Or(cmp.Compare(boolOrder(a.Column == ""), boolOrder(b.Column == "")), cmp.Compare(a.Rank, b.Rank))
	})
	list := make([]leaks.EvidenceKind, len(formats))
	for i, f := range formats {
		list[i] = leaks.EvidenceKind{
			Name: cmp.Or(f.Column, f.Name), Singular: strings.TrimPrefix(f.Name, "a "),
			Kinds:    append([]string{string(f.Kind)}, f.CaptureKinds...),
			Expected: f.Column != "",
		}
		if f.Searches {
			list[i].PointerSearchRank = f.Rank
		}
	}
	return list
}

func boolOrder(is bool) int {
	if is {
		return 1
	}
	return 0
}

// kindSummaries are what each kind of evidence says of a leak in one build.
type kindSummaries struct {
	build  string
	list   []leaks.KindSummary
	others []store.OtherEvidence
}

// kindSummariesOf reads what the evidence of the build says that explains the leak; nil where no run shows it.
func kindSummariesOf(ctx context.Context, from store.View, v *signatureView) (*kindSummaries, error) {
	f := v.history.Explained
	if f == nil {
		return nil, nil
	}
	runs, others, err := from.ListLeakEvidence(ctx, v.ID, f.RunID)
	if err != nil || len(runs) == 0 {
		return nil, err
	}
	return &kindSummaries{build: runs[0].Build, list: leaks.SummarizeKinds(evidenceKinds, runs), others: others}, nil
}

// elsewhere is where a kind of evidence that does not show the leak in this build does so in another; nil for nowhere.
func (t *kindSummaries) elsewhere(said *leaks.KindSummary) *store.OtherEvidence {
	for i := range t.others {
		if slices.Contains(said.Kinds, t.others[i].Kind) {
			return &t.others[i]
		}
	}
	return nil
}

// withoutPointer says of how many blocks nothing points to them.
func withoutPointer(said *leaks.KindSummary) string {
	u := said.Unreachable
	text := quantity.Plural(u.Count, "block") + ", " + quantity.Bytes(u.Bytes)
	if n := said.Outstanding.Count; n > 0 {
		text = quantity.Count(u.Count) + " of " + quantity.Plural(n, "block")
	}
	return text
}
