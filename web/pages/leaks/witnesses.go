package leaks

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"heapdrift/ingest/evidence"
	"heapdrift/ingest/figures"
	"heapdrift/internal/intake"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// witnessKinds are the kinds of evidence that may show a leak: those that watch stacks first, then those that have the
// content of memory.
var witnessKinds = kindsOf(intake.Formats())

func kindsOf(formats evidence.Formats) []leaks.WitnessKind {
	formats = slices.Clone(formats)
	slices.SortStableFunc(formats, func(a, b evidence.Format) int {
		return cmp.Or(cmp.Compare(boolOrder(a.Witness == ""), boolOrder(b.Witness == "")), cmp.Compare(a.Rank, b.Rank))
	})
	list := make([]leaks.WitnessKind, len(formats))
	for i, f := range formats {
		list[i] = leaks.WitnessKind{
			Name: cmp.Or(f.Witness, f.Name), One: strings.TrimPrefix(f.Name, "a "),
			Kinds:    append([]string{string(f.Kind)}, f.Captures...),
			Expected: f.Witness != "",
		}
		if f.Searches {
			list[i].Searches = f.Rank
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

// testimonies are what each kind of evidence says of a leak in one build.
type testimonies struct {
	build  string
	list   []leaks.Testimony
	others []store.OtherWitness
}

// testimoniesOf reads what the evidence of the build says that explains the leak; nil where no run shows it.
func testimoniesOf(ctx context.Context, from store.View, v *signatureView) (*testimonies, error) {
	f := v.history.Explained
	if f == nil {
		return nil, nil
	}
	runs, others, err := from.WitnessesOfLeak(ctx, v.ID, f.Run)
	if err != nil || len(runs) == 0 {
		return nil, err
	}
	return &testimonies{build: runs[0].Build, list: leaks.Testify(witnessKinds, runs), others: others}, nil
}

// elsewhere is where a kind of evidence that does not show the leak in this build does so in another; nil for nowhere.
func (t *testimonies) elsewhere(said *leaks.Testimony) *store.OtherWitness {
	for i := range t.others {
		if slices.Contains(said.Kinds, t.others[i].Kind) {
			return &t.others[i]
		}
	}
	return nil
}

// withoutPointer says of how many blocks nothing points to them.
func withoutPointer(said *leaks.Testimony) string {
	u := said.Unreachable
	text := figures.Plural(u.Count, "block") + ", " + figures.Bytes(u.Bytes)
	if n := said.Outstanding.Count; n > 0 {
		text = figures.Count(u.Count) + " of " + figures.Plural(n, "block")
	}
	return text
}
