package pages

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/internal/analysis"
	"heapdrift/internal/store"
)

const (
	// leaksPage is how many signatures a page of the list has.
	leaksPage = 25
	// stripBuilds is how many builds the heat strip of a signature has.
	stripBuilds = 24
)

// leakClasses are what signatures may be filtered by beside those that ever leaked or grew.
var leakClasses = []string{"leak", "growing", "cache", "one-time", "transient", "stable", "unknown", "all"}

// A leakListing is what the list of a project's signatures shows. All of it stands in the address.
type leakListing struct {
	project  string
	state    store.State
	scenario string // the runs below are filtered by it as well
	owner    string
	class    string
	filter   string
	order    store.SignatureOrder
	page     int // from 1
}

// leakListingOf reads an address. What makes no sense in it counts as not there.
func leakListingOf(project string, c echo.Context) leakListing {
	l := leakListing{project: project, scenario: printable(c.QueryParam("scenario")), owner: printable(c.QueryParam("owner")), page: 1}
	l.filter = strings.TrimSpace(printable(c.QueryParam("q")))
	l.filter = strings.ToValidUTF8(l.filter[:min(len(l.filter), maxFilter)], "")
	if state := store.State(c.QueryParam("state")); slices.Contains(store.States, state) {
		l.state = state
	}
	if class := c.QueryParam("class"); slices.Contains(leakClasses, class) {
		l.class = class
	}
	if order := store.SignatureOrder(c.QueryParam("sort")); store.ValidSignatureOrder(order) && order != store.BySignatureScore {
		l.order = order
	}
	if n, err := strconv.Atoi(c.QueryParam("leaks")); err == nil && n > 0 && n < 1<<20 {
		l.page = n
	}
	return l
}

func (l leakListing) query() store.SignatureQuery {
	return store.SignatureQuery{
		Project: l.project, State: l.state, Owner: l.owner, Scenario: l.scenario, Text: l.filter, Class: l.class, Order: l.order,
		Limit: leaksPage, Offset: (l.page - 1) * leaksPage, Strip: stripBuilds,
	}
}

// The methods below give listings that links lead to. Another choice starts at the first page.

func (l leakListing) in(state store.State) leakListing          { l.state = state; return l.at(1) }
func (l leakListing) by(order store.SignatureOrder) leakListing { l.order = order; return l.at(1) }
func (l leakListing) at(page int) leakListing                   { l.page = page; return l }

// isFiltered reports whether the list leaves signatures out beside those of other states.
func (l leakListing) isFiltered() bool {
	return l.filter != "" || l.owner != "" || l.scenario != "" || l.class != ""
}

// fields are the choices of a listing. Defaults are left out, so that equal listings have equal addresses.
func (l leakListing) fields() []field {
	page := ""
	if l.page > 1 {
		page = strconv.Itoa(l.page)
	}
	var list []field
	for _, f := range []field{
		{"state", string(l.state)}, {"scenario", l.scenario}, {"owner", l.owner}, {"class", l.class}, {"q", l.filter}, {"sort", string(l.order)}, {"leaks", page},
	} {
		if f.value != "" {
			list = append(list, f)
		}
	}
	return list
}

func (l leakListing) url() templ.SafeURL {
	return withFields(projectURL(l.project), l.fields())
}

// A leakTable is a page of a project's signatures.
type leakTable struct {
	leakListing
	*store.SignaturePage
	scenarios []string
}

func (p *pages) leaks(ctx context.Context, l leakListing) (t leakTable, err error) {
	t.leakListing = l
	if t.SignaturePage, err = p.store.Signatures(ctx, l.query()); err != nil {
		return t, err
	}
	if last := t.last(); len(t.Rows) == 0 && l.page > last && last > 0 {
		t.page = last
		t.SignaturePage, err = p.store.Signatures(ctx, t.query())
	}
	return t, err
}

// last is the number of the last page.
func (t leakTable) last() int { return (t.Total + leaksPage - 1) / leaksPage }

// all is how many signatures the tabs have together.
func (t leakTable) all() int {
	sum := 0
	for _, n := range t.Counts {
		sum += n
	}
	return sum
}

// extent says which of how many signatures the page shows.
func (t leakTable) extent() string {
	if t.last() < 2 {
		return counted(t.Total, "signature")
	}
	first := (t.page-1)*leaksPage + 1
	return fmt.Sprintf("%d–%d of %s signatures", first, first+len(t.Rows)-1, analysis.Count(int64(t.Total)))
}

// A heatCell is a build in a signature's strip.
type heatCell struct{ x, width, class, title string }

// heatOf is the strip of a signature over builds, oldest first.
func heatOf(builds []store.BuildRef, outcomes []store.Outcome) []heatCell {
	cells := make([]heatCell, min(len(builds), len(outcomes)))
	for i := range cells {
		class, says := outcomeClass(&outcomes[i])
		cells[i] = heatCell{inHundred(i, len(cells)), inHundred(1, len(cells)), class, builds[i].Name + ": " + says}
	}
	return cells
}

// inHundred is n of all along the width.
func inHundred(n, all int) string {
	return strconv.FormatFloat(100*float64(n)/float64(all), 'f', 3, 64) + "%"
}

// outcomeClass is how an outcome is drawn, and what it says.
func outcomeClass(o *store.Outcome) (class, says string) {
	switch {
	case !o.Exercised:
		return "h-none", "not exercised"
	case o.Bad():
		return "h-" + o.Class, o.Class
	case !o.Clean:
		return "h-other", "seen, undecided"
	case o.Class == string(analysis.ClassUnknown): // of one run; another one could tell
		return "h-clean", "clean"
	}
	return "h-clean", "clean, " + o.Class
}

// heatSays is the strip in a sentence.
func heatSays(outcomes []store.Outcome) string {
	bad, unseen := 0, 0
	for i := range outcomes {
		switch {
		case outcomes[i].Bad():
			bad++
		case !outcomes[i].Exercised:
			unseen++
		}
	}
	return fmt.Sprintf("bad in %d of %s, not exercised in %d", bad, counted(len(outcomes), "build"), unseen)
}

// ownerOf is who looks after a signature: who took it, else whom the rules name.
func ownerOf(t *store.Triage) string {
	if t.Assignee != "" {
		return t.Assignee
	}
	return t.Owner
}

// growthRate is how fast the latest figures grow.
func growthRate(f *store.Figures) change {
	if f.Rate == nil && f.Growth != nil {
		return bytesChange(&f.Growth.Bytes)
	}
	return rateOf(f.Rate)
}
