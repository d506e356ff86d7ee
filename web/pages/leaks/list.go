package leaks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

const (
	// leaksPage is how many signatures a page of the list has.
	leaksPage = 25
	// stripBuilds is how many builds the heat strip of a signature has.
	stripBuilds = 24
)

// leakClasses are what signatures may be filtered by beside those that ever leaked or grew.
var leakClasses = append(slices.Clone(leaks.ClassFilters), leaks.AllClasses)

// A Listing says which of a project's leaks a list shows, and how. All of it is in the address.
type Listing struct {
	project  string
	state    leaks.State
	scenario string // the runs below are filtered by it as well
	owner    string
	module   string // of the frame to blame
	test     string // in which a list of leaks at exit shows it
	class    string
	filter   string
	order    store.SignatureOrder
	ignored  []ui.IgnoredChoice
	after    int64 // id of the signature that the page stands behind; 0 for the first page
}

// ListingOf reads an address. Invalid values count as absent; the list names an unknown order, state or class.
func ListingOf(project string, c echo.Context) Listing {
	l := Listing{project: project, scenario: ui.Printable(c.QueryParam("scenario")),
		owner: ui.Printable(c.QueryParam("owner")), module: ui.Printable(c.QueryParam("module")),
		test: ui.Printable(c.QueryParam("test"))}
	l.filter = strings.TrimSpace(ui.Printable(c.QueryParam("q")))
	l.filter = strings.ToValidUTF8(l.filter[:min(len(l.filter), ui.MaxFilterBytes)], "")
	if state := leaks.State(c.QueryParam("state")); slices.Contains(leaks.States, state) {
		l.state = state
	}
	if class := c.QueryParam("class"); slices.Contains(leakClasses, class) {
		l.class = class
	}
	if order := store.SignatureOrder(c.QueryParam("sort")); store.ValidSignatureOrder(order) &&
		order != store.BySignatureScore {
		l.order = order
	}
	for _, choice := range []struct {
		name, shown string
		isKnown     func(string) bool
	}{
		{"sort", "the order by score", func(v string) bool { return store.ValidSignatureOrder(store.SignatureOrder(v)) }},
		{"state", "every state", func(v string) bool { return slices.Contains(leaks.States, leaks.State(v)) }},
		{"class", "what leaks or grows", func(v string) bool { return slices.Contains(leakClasses, v) }},
	} {
		if i, unknown := ui.IgnoredChoiceIn(c, choice.name, choice.shown, choice.isKnown); unknown {
			l.ignored = append(l.ignored, i)
		}
	}
	if id, err := strconv.ParseInt(c.QueryParam("leaks_after"), 10, 64); err == nil && id > 0 {
		l.after = id
	}
	return l
}

func (l Listing) query() store.SignatureQuery {
	return store.SignatureQuery{
		Project: l.project, State: l.state, Owner: l.owner, Module: l.module, Test: l.test, Scenario: l.scenario,
		Text:  l.filter,
		Class: l.class, Order: l.order,
		Limit: leaksPage, AfterID: l.after, Strip: stripBuilds,
	}
}

// The methods below give listings that links lead to. Another choice starts at the first page.

func (l Listing) in(state leaks.State) Listing          { l.state = state; return l.behind(0) }
func (l Listing) by(order store.SignatureOrder) Listing { l.order = order; return l.behind(0) }
func (l Listing) of(module string) Listing              { l.module = module; return l.behind(0) }
func (l Listing) behind(id int64) Listing               { l.after = id; return l }

// isFiltered reports whether the list leaves signatures out beside those of other states.
func (l Listing) isFiltered() bool {
	return l.filter != "" || l.owner != "" || l.module != "" || l.test != "" || l.scenario != "" || l.class != ""
}

// Fields are the fields of the address. Defaults are left out, so that equal listings have equal addresses.
func (l Listing) Fields() []ui.Field {
	var list []ui.Field
	set := func(name, value string) {
		if value != "" {
			list = append(list, ui.Field{Name: name, Value: value})
		}
	}
	set("state", string(l.state))
	set("scenario", l.scenario)
	set("owner", l.owner)
	set("module", l.module)
	set("test", l.test)
	set("class", l.class)
	set("q", l.filter)
	set("sort", string(l.order))
	if l.after > 0 {
		set("leaks_after", strconv.FormatInt(l.after, 10))
	}
	return list
}

func (l Listing) url() templ.SafeURL {
	return ui.WithFields(ui.ProjectURL(l.project), l.Fields())
}

// hasQuiet reports whether the list also shows what never leaked or grew, which is not sorted.
func (l Listing) hasQuiet() bool { return l.class != "" && !analysis.Class(l.class).IsSuspect() }

// A Table is a page of a project's leaks.
type Table struct {
	Listing
	*store.SignaturePage
	Scenarios []string // that the list may be filtered by
	Modules   []string // as well
	Frame     ui.Frame
	Changes   bool   // the reader may change triage
	Actor     string // name that forms are filled with, where nobody logs in
}

// TableOf reads the page that a listing chooses. If the leak before the page was deleted, it is the first page.
func TableOf(ctx context.Context, v store.View, l Listing) (t Table, err error) {
	t.Listing = l
	var gone *leaks.FieldError
	t.SignaturePage, err = v.ListSignatures(ctx, l.query())
	if errors.As(err, &gone) || err == nil && len(t.Rows) == 0 && l.after > 0 {
		t.Listing = l.behind(0)
		t.SignaturePage, err = v.ListSignatures(ctx, t.query())
	}
	return t, err
}

// all is how many signatures the tabs have together.
func (t Table) all() int {
	sum := 0
	for _, n := range t.Counts {
		sum += n
	}
	return sum
}

// extent says which of how many signatures the page shows.
func (t Table) extent() string {
	return ui.RowsShown(t.RowsBefore, len(t.Rows), t.Total, "signature")
}

// heatOf is the strip of a signature over builds, oldest first.
func heatOf(builds []store.BuildRef, outcomes []leaks.Outcome) []ui.StripCell {
	cells := make([]ui.StripCell, min(len(builds), len(outcomes)))
	for i := range cells {
		class, says := outcomeClass(&outcomes[i])
		cells[i] = ui.StripCell{Class: class, Title: builds[i].Name + ": " + says}
	}
	return cells
}

// outcomeClass is how an outcome is drawn, and what it says.
func outcomeClass(o *leaks.Outcome) (class, says string) {
	switch {
	case o.IsAbsent():
		return "h-clean", "clean: its callers ran"
	case !o.Exercised:
		return "h-none", "not exercised"
	case o.IsBad():
		return "h-" + string(o.Class), string(o.Class)
	case !o.IsClean():
		return "h-other", "seen, inconclusive"
	case o.Class == analysis.ClassUnknown: // of one run; another one could tell
		return "h-clean", "clean"
	}
	return "h-clean", "clean, " + string(o.Class)
}

// heatSays is the strip in a sentence.
func heatSays(outcomes []leaks.Outcome) string {
	bad, unseen := 0, 0
	for i := range outcomes {
		switch {
		case outcomes[i].IsBad():
			bad++
		case !outcomes[i].Exercised && !outcomes[i].IsAbsent():
			unseen++
		}
	}
	return fmt.Sprintf("leaks in %d of %s, not exercised in %d", bad, quantity.Plural(len(outcomes), "build"), unseen)
}

// ModuleName is the name of a module for people: leaks.NoModule has a text of its own.
func ModuleName(module string) string {
	if module == leaks.NoModule {
		return "without a stack"
	}
	return module
}

// OfModule is the address of the list with the leaks of one blamed module only; "" for all.
func (l Listing) OfModule(module string) templ.SafeURL { return l.of(module).url() }

// IsOf reports whether the list is of this blamed module only.
func (l Listing) IsOf(module string) bool { return l.module == module }
