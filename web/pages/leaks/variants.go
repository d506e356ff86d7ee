package leaks

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

// variantsShown is how many variants of a leak its page shows; of the rest it says how many stacks they are.
const variantsShown = 6

// variants are the ways by which a leak is reached.
type variants struct {
	name   string         // of the leak
	shown  *store.LeakRun // whose lines and figures are shown
	stacks *store.LeakStacks
	list   []leaks.CallPath
	source ui.Source
}

// variantsOf reads the stacks of a leak as the run that explains it shows them, and where else they were seen; nil
// where no run shows a stack.
func variantsOf(ctx context.Context, from store.View, v *signatureView, links leaks.SourceLinks) (*variants, error) {
	if v.history.Explained == nil {
		return nil, nil
	}
	run := v.history.Explained.RunID
	stacks, err := from.FindNewestLeakStacks(ctx, v.ID, run)
	if err != nil || len(stacks.Runs) == 0 {
		return nil, err
	}
	shown := &stacks.Runs[0]
	return &variants{
		name: v.title.Name.Name, shown: shown, stacks: stacks, list: leaks.GroupCallPaths(stacks.Seen, shown.ID),
		source: ui.Source{Links: links, Build: shown.Build, Branch: shown.Branch},
	}, nil
}

// top are the variants that the page shows.
func (v *variants) top() []leaks.CallPath { return v.list[:min(len(v.list), variantsShown)] }

// rest says what of the leak the page does not show; "" for nothing.
func (v *variants) rest() string {
	left := v.shown.Sites
	for i := range v.top() {
		if in := v.list[i].SeenIn(v.shown.ID); in != nil {
			left -= in.Stacks
		}
	}
	var parts []string
	if hidden := len(v.list) - len(v.top()); hidden > 0 && v.shown.SitesRead == v.shown.Sites {
		parts = append(parts, quantity.Plural(hidden, "more variant"))
	}
	if left > 0 {
		parts = append(parts, quantity.Plural(left, "more stack")+" of this leak in run "+v.shown.Name)
	}
	return strings.Join(parts, ", ")
}

// sum says how many variants there are, as far as that is known, and of which build the lines are.
func (v *variants) sum() string {
	count := quantity.Plural(len(v.list), "variant")
	if v.shown.SitesRead < v.shown.Sites {
		count = quantity.Plural(v.shown.Sites, "stack") + " in run " + v.shown.Name
	}
	return count + ", lines of build " + v.shown.Build
}

// notShown says of a variant that it is not in the run that is shown, as far as that is known.
func (v *variants) notShown() string {
	if v.shown.SitesRead < v.shown.Sites {
		return "not among the " + quantity.Plural(v.shown.SitesRead, "stack") + " read of run " + v.shown.Name
	}
	return "not in run " + v.shown.Name
}

// url is the list of all sites of the leak in the run that is shown.
func (v *variants) url(signature string) templ.SafeURL {
	return ui.WithQuery(ui.RunURL(v.shown.ID), url.Values{"view": {"sites"}, "q": {signature}})
}

// nameOf names a variant by what only it calls.
func (v *variants) nameOf(variant *leaks.CallPath) string {
	if len(variant.DistinctFunctions) == 0 {
		if len(variant.Frames) == 0 {
			return "allocations without a stack"
		}
		return v.name
	}
	names := make([]string, len(variant.DistinctFunctions))
	for i, call := range variant.DistinctFunctions {
		names[i] = ui.CutName(call).Name
	}
	return strings.Join(names, " → ")
}

// span is the time in which the figures of a run grew; "" where the evidence has no times.
func (v *variants) span(run int64) string {
	if r := v.stacks.Run(run); r != nil && r.SpanNS > 0 {
		return "in " + quantity.ShortDuration(time.Duration(r.SpanNS))
	}
	return ""
}

// seenIn says in which builds a variant was seen, the oldest first.
func (v *variants) seenIn(variant *leaks.CallPath) string {
	var builds []string
	for i := len(variant.Seen) - 1; i >= 0; i-- {
		if r := v.stacks.Run(variant.Seen[i].RunID); !slices.Contains(builds, r.Build) {
			builds = append(builds, r.Build)
		}
	}
	switch n := len(builds); n {
	case 1:
		return "seen in build " + builds[0]
	case 2:
		return "seen in builds " + builds[0] + " and " + builds[1]
	default:
		return "seen in " + quantity.Plural(n, "build") + ", " + builds[0] + " to " + builds[n-1]
	}
}

// grewBy is the growth of stacks in a run; nil has nothing to compare with.
func grewBy(growth *analysis.Amount) ui.GrowthText {
	if growth == nil {
		return ui.BytesGrowthText(nil)
	}
	return ui.BytesGrowthText(&growth.Bytes)
}

// heldText is what a variant holds.
func heldText(held analysis.Amount) string {
	return quantity.Bytes(held.Bytes) + " in " + quantity.Plural(held.Count, "block")
}
