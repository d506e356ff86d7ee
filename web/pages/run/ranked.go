package run

import (
	"context"
	"fmt"
	"strings"

	"github.com/a-h/templ"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
	"heapdrift/internal/query"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

// A rankedTable is a page of the signatures of a selection.
type rankedTable struct {
	*viewCard
	rows   []rankedRow
	total  int
	detail *rankedDetail // of the row that is open; nil for none
}

// A rankedRow is a signature with its numbers in the selection. finding is what the database knows of it; nil of what
// heaps took from the system.
type rankedRow struct {
	query.Row
	finding *store.Finding
	clauses []score.Clause // why it has its class
	// cause is what the rows from here on are lost together; nil of others, and of all but the first of them on the
	// page.
	cause *analysis.LostTogether
	below bool // it stands below its cause
}

// A rankedDetail is what an open row shows: the largest of its sites.
type rankedDetail struct {
	signature string
	site      *siteView // nil where the site is not found
}

// ranked makes the page of signatures that a listing chooses. result is nil where the database answers.
func (r *reader) ranked(ctx context.Context, run store.Run, c *viewCard, result *query.Result) (*rankedTable, error) {
	t := &rankedTable{viewCard: c}
	first := (c.page - 1) * pageSize
	if result == nil {
		rows, total, err := r.ListFindings(ctx, store.FindingQuery{RunID: run.ID, All: true, Limit: pageSize, Offset: first})
		if err != nil {
			return nil, err
		}
		t.total = total
		for i := range rows {
			t.rows = append(t.rows, rowOfFinding(&rows[i], c.window))
		}
		t.group()
		return t, r.openRow(ctx, t, nil)
	}
	metric, err := r.asked.index.Metric(c.metric)
	if err != nil {
		return nil, err
	}
	all := result.Ranked(metric)
	t.total = all.Len()
	if last := pagesOf(int64(t.total)); c.page > last && last > 0 {
		c.listing = c.at(last)
		first = (last - 1) * pageSize
	}
	shown := all.Rows(first, first+pageSize)
	result.WithSeries(shown)
	own := make([]string, len(shown))
	for i := range shown {
		own[i] = shown[i].Signature
	}
	found, _, err := r.ListFindings(ctx, store.FindingQuery{RunID: run.ID, All: true, OwnSignatures: own, Limit: len(own)})
	if err != nil {
		return nil, err
	}
	byOwn := map[string]*store.Finding{}
	for i := range found {
		byOwn[found[i].Own] = &found[i]
	}
	for i := range shown {
		row := rankedRow{Row: shown[i], finding: byOwn[shown[i].Signature]}
		switch {
		case c.judgedAlone:
			row.clauses = row.Clauses()
		case row.finding != nil:
			row.clauses = row.finding.Clauses
			if c.class == "" { // it may be judged together with other runs
				row.Class = row.finding.Class
			}
		}
		t.rows = append(t.rows, row)
	}
	t.group()
	return t, r.openRow(ctx, t, result)
}

// group puts the rows of a page that are lost together below the first of them.
func (t *rankedTable) group() {
	of := causesBySignature(t.report)
	var rows []rankedRow
	taken := map[*analysis.LostTogether]bool{}
	for i := range t.rows {
		c := of[t.rows[i].Signature]
		if c == nil {
			rows = append(rows, t.rows[i])
			continue
		}
		if taken[c] {
			continue
		}
		taken[c] = true
		at := len(rows)
		for _, row := range t.rows[i:] {
			if of[row.Signature] == c {
				row.below = true
				rows = append(rows, row)
			}
		}
		rows[at].cause = c
	}
	t.rows = rows
}

// causesBySignature are the causes that signatures of a report share with others.
func causesBySignature(r *analysis.Report) map[string]*analysis.LostTogether {
	of := map[string]*analysis.LostTogether{}
	for i := range r.Causes {
		for k := range r.Causes[i].Members {
			of[r.Causes[i].Members[k].Signature] = &r.Causes[i]
		}
	}
	return of
}

// causeSum is what is lost of a cause in all.
func causeSum(c *analysis.LostTogether) string {
	held, ended := c.HeldBeforeExit()
	s := fmt.Sprintf("%s allocated and not freed; the stacks hold %s in %s", quantity.Plural(c.Objects, "object"),
		quantity.Bytes(held.Bytes), quantity.Plural(held.Count, "block"))
	if ended {
		s += " before exit"
	}
	if c.Rate != nil {
		s += c.Rate.State(&c.Amounts).TextBeside()
	}
	return s
}

// causePart is what a finding is of each object of its cause.
func causePart(m *analysis.LostTogetherPart) string {
	s := fmt.Sprintf("Each object: %s of %s", quantity.Plural(m.Blocks, "block"), quantity.Bytes(int64(m.BytesPerBlock)))
	if m.Type != "" {
		s += ", " + m.Type
	}
	return s + ": " + ui.TitleOf(m.Title).Blame
}

// rowOfFinding is a row of which the database knows all but its series.
func rowOfFinding(f *store.Finding, w timeWindow) rankedRow {
	row := rankedRow{Row: query.Row{Signature: f.Own, Kind: f.Kind, Title: f.Title, Class: f.Class, Sites: f.Sites},
		finding: f, clauses: f.Clauses}
	if f.Blame != nil {
		row.Function, row.Place = f.Blame.Module+"!"+f.Blame.Function, ui.BlamePlace(f.Blame)
	}
	row.Held, row.Ended = heldOf(f)
	row.Ended = row.Ended && !w.beforeExit()
	row.Growth = f.Growth
	return row
}

// openRow reads what the open row shows. Without a choice that is the first one, if it leaks.
func (r *reader) openRow(ctx context.Context, t *rankedTable, result *query.Result) error {
	if t.opened == "" && t.page == 1 && len(t.rows) > 0 && t.rows[0].Class.IsSuspect() {
		t.detail = &rankedDetail{signature: t.rows[0].Signature}
	}
	for i := range t.rows {
		if t.rows[i].Signature == t.opened {
			t.detail = &rankedDetail{signature: t.opened}
		}
	}
	if t.detail == nil {
		return nil
	}
	q := store.SiteQuery{RunID: t.run, OwnSignature: t.detail.signature, Limit: 1}
	var site query.Site
	if result != nil {
		var found bool
		if site, found = result.FirstSite(t.detail.signature); found {
			q = store.SiteQuery{RunID: t.run, Ordinals: []int{site.Ordinal}, Limit: 1}
		}
	}
	sites, _, err := r.ListSites(ctx, q)
	if err != nil || len(sites) == 0 {
		return err
	}
	if result != nil && result.Snapshots != nil {
		takeAmounts(&sites[0], site.Amounts)
	}
	t.detail.site, err = r.siteView(ctx,
		siteTable{listing: t.listing, project: t.project, source: t.source, trace: t.trace}, t.report, sites[0])
	return err
}

// isOpen reports whether a row is the open one.
func (t *rankedTable) isOpen(signature string) bool {
	return t.detail != nil && t.detail.signature == signature
}

// rowURL opens or closes a row.
func (t *rankedTable) openURL(signature string) templ.SafeURL {
	to := t.listing
	to.opened, to.open = signature, -1
	if t.isOpen(signature) {
		to.opened = closed
	}
	return to.url()
}

// sortURL orders the rows by a metric.
func (t *rankedTable) sortURL(metric string) templ.SafeURL { return t.measured(metric).url() }

// growth is how much a row grew. Only what leaks or grows is red.
func (r *rankedRow) growth() ui.GrowthText {
	c := ui.UnknownGrowthText("nothing to compare with")
	if r.Growth != nil {
		c = changeOfAmount(*r.Growth, unitOf(r.Kind))
	}
	return c.Of(r.Class)
}

// rate is how fast a row grows, by hour or unit of work; without a text where that is not known, or where the row has
// only a part of what it was measured on.
func (t *rankedTable) rate(r *rankedRow) (rate ui.GrowthText) {
	if r.finding == nil || r.finding.Rate == nil || t.isPart() || r.Sites != r.finding.Sites {
		return rate
	}
	rate = ui.FigureGrowthText(&r.finding.Figure)
	if g := r.finding.Rate.State(nil); g.InRun() { // the growth above is the same
		rate.Class, rate.Text = "flat", strings.TrimSpace(g.Basis())
	}
	return rate
}

// standing is how the leak of a row stands in the run's build; "" where the row has nothing to say of it.
func (t *rankedTable) standing(r *rankedRow) leaks.Standing {
	if r.finding == nil {
		return ""
	}
	return r.finding.StandingIn(t.build)
}

// isPart reports whether the table shows less than what the run was judged by.
func (t *rankedTable) isPart() bool { return t.judgedAlone || t.part() != nil }

// part are the snapshots that are selected of a series; nil for all of them.
func (t *rankedTable) part() *query.Snapshots {
	if t.totals == nil {
		return nil
	}
	return t.totals.Snapshots
}

// judged says what the classes of the table are of.
func (t *rankedTable) judged() string {
	return judgedText(&t.listing, t.judgedAlone, t.part(), len(t.report.Snapshots))
}

// whyHeading heads the reasons for a class.
func (t *rankedTable) whyHeading() string {
	switch {
	case t.judgedAlone:
		return "Reasons, for the selection"
	case t.part() != nil:
		return "Reasons, over all " + quantity.Plural(len(t.report.Snapshots), "snapshot")
	}
	return "Reasons"
}

// why is the reason for the class of a row that says most: of what a suspect's growth rests on, else what speaks
// against a leak.
func (t *rankedTable) why(r *rankedRow) string {
	text := r.why()
	if text != "" && t.part() != nil {
		return "over all " + quantity.Plural(len(t.report.Snapshots), "snapshot") + ": " + text
	}
	return text
}

func (r *rankedRow) why() string {
	for _, rule := range []string{"left-at-exit", "survivors", "growth", "growing-block", "spread", "score"} {
		for _, c := range r.clauses {
			if c.Rule == rule && (c.Holds == nil || *c.Holds == r.Class.IsSuspect()) {
				return c.Text
			}
		}
	}
	return ""
}

// differ reports whether the heaps of a signature say different things of it.
func (r *rankedRow) differ() bool {
	for _, p := range r.Parts {
		if p.Class != r.Parts[0].Class {
			return true
		}
	}
	return false
}

// perBlock is the size of a block of a row.
func (r *rankedRow) perBlock() string { return averageOf(r.Held) }

// growthOfPart is a growth in a table.
func growthOfPart(a *analysis.Amount) ui.GrowthText {
	if a == nil {
		return ui.UnknownGrowthText("nothing to compare with")
	}
	return ui.BytesGrowthText(&a.Bytes)
}

// hasSeries reports whether the rows have lines: what the database answers has none.
func (t *rankedTable) hasSeries() bool {
	return len(t.rows) > 0 && len(t.rows[0].Series) > 1
}

// spanName is what the lines are over.
func (t *rankedTable) spanName() string {
	if t.trace != nil {
		return "Over time"
	}
	return quantity.Plural(len(t.report.Snapshots), "snapshot")
}

// growthName is the heading of growth, with its unit where all rows have the same.
func (t *rankedTable) growthName() string {
	if t.trace != nil && !t.isWhole() {
		return "Impacting"
	}
	return "Growth"
}

// growthTitle says what the column of growth has, and in which order it puts the rows.
func (t *rankedTable) growthTitle() string {
	title := "bytes at the window's end minus bytes at its start"
	if t.trace == nil {
		title = "bytes at the last snapshot minus bytes at the first"
	}
	if !t.isPart() {
		title += "; below: growth rate of a leak"
	}
	switch {
	case t.metric != "":
		return title
	case t.isPart():
		return title + ". Sorted: leaks and growing first, then by growth"
	}
	return title + ". Sorted: by severity of the class, then score, then growth"
}

// columns is how many the table has.
func (t *rankedTable) columns() int {
	n := 6
	if t.hasSeries() {
		n++
	}
	if t.trace != nil {
		n++
	}
	return n
}

func metricClass(metric string) string {
	if metric == "" {
		return "growth"
	}
	return metric
}

// partText is what one heap says of a signature.
func partText(p *query.HeapPart, isFirst bool) string {
	text := string(p.Class) + " in " + shortHandle(p.Heap)
	if !isFirst {
		text = "· " + text
	}
	return text
}

// ruleURL proposes a rule that says whose a signature is.
func (t *rankedTable) ruleURL(r *rankedRow) templ.SafeURL {
	if r.finding.Blame == nil || r.finding.Blame.Function == "" {
		return ui.RulesURL(t.project)
	}
	return ui.RuleProposalURL(t.project, ui.OwnerRule(r.finding.Blame))
}

// flameURL are the calls of a signature.
func (t *rankedTable) flameURL(signature string) templ.SafeURL {
	to := t.in(viewFlame)
	to.more.Signature = signature
	return to.url() + "#views"
}

// sitesURL are the sites of a signature.
func (t *rankedTable) sitesURL(signature string) templ.SafeURL {
	to := t.in(viewSites).matching(signature)
	return to.url() + "#views"
}
