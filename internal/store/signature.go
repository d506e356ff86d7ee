package store

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// A Signature is a leak of a project: its identity, and what the runs and the team say of it.
type Signature struct {
	Identity
	leaks.Triage
	SeenBuilds
	Latest leaks.Figure // its numbers in the newest build that shows it
	// Measured is the scenario of the run that Latest is from; "" where no run shows it any more.
	Measured string
	States   []leaks.ScenarioState // by scenario; Triage.State is the gravest
}

// An Identity names a leak and says what its name is made of.
type Identity struct {
	ID        int64
	Text      string // "sig1:…"
	Kind      string // of memory: "heap" or "virtual"
	Title     string
	Blame     *analysis.Blame // the blamed frame; nil without a stack
	Frames    []string        // names that it is made of, the blamed frame first
	Fine      string          // finer signature, of all frames
	Leaf      string          // coarser signature, of origin and blamed frame alone
	Outline   string          // signature without inlined calls; "" where it is the same
	Group     string          // its group by the project's rules; "" for none
	CreatedAt time.Time
	// Provisional says that a frame has no name: symbols will give another signature.
	Provisional bool
}

// SeenBuilds are the names of the builds that a signature was seen in; "" is none.
type SeenBuilds struct {
	Worst       string // the gravest class that any run gave it
	FirstBad    string // the first build in which it leaked or grew
	LastClean   string // the last build before FirstBad that was clean of it in the same scenario; "" for none
	LastBad     string // the newest build in which it leaked or grew
	LastSeen    string // the newest build that shows it, leaking or not
	FixedIn     string // of the states fixed and regressed: the build it was fixed in
	RegressedIn string // of the state regressed: the first build after that in which it leaked
}

// figureColumns are those of a finding f or of a signature s, as figureRow.
func figureColumns(table string) string { return bareFigureColumns(table) + `, ` + table + `.rate` }

// bareFigureColumns are figureColumns but for the rate.
func bareFigureColumns(table string) string {
	columns := []string{"class", "score", "certain", "outstanding_count", "outstanding_bytes",
		"growth_count", "growth_bytes"}
	return table + `.` + strings.Join(columns, `, `+table+`.`)
}

// figureRow is figureColumns.
type figureRow struct {
	Class                              string
	Score                              *float64
	Certain                            bool
	OutstandingCount, OutstandingBytes int64
	GrowthCount, GrowthBytes           *int64
	Rate                               *score.Rate
}

func (r *figureRow) figure() leaks.Figure {
	f := leaks.Figure{
		Class: analysis.Class(r.Class), Score: r.Score, Certain: r.Certain,
		Outstanding: analysis.Amount{Count: r.OutstandingCount, Bytes: r.OutstandingBytes}, Rate: r.Rate,
	}
	if r.GrowthCount != nil && r.GrowthBytes != nil {
		f.Growth = &analysis.Amount{Count: *r.GrowthCount, Bytes: *r.GrowthBytes}
	}
	return f
}

// buildName names the build whose id is in a column of signature s.
func buildName(column string) string {
	return `coalesce((select b.name from builds b where b.id = s.` + column + `_id), '') as ` + column
}

var signatureColumns = `s.id, s.text, s.kind, s.title, s.blame, s.frames, s.fine, s.leaf, s.outline, s."group", s.created_at, s.provisional, s.worst, ` +
	buildName("first_bad") + `, ` + buildName("last_clean") + `, ` + buildName("last_bad") + `, ` +
	buildName("last_seen") + `, ` +
	buildName("fixed_in") + `, coalesce((select b.name from builds b where b.id = s.regressed_id), '') as regressed_in, ` +
	`coalesce((select sc.name from scenarios sc where sc.id = s.figure_scenario_id), '') as measured, ` +
	triageColumns + `, ` + figureColumns("s")

// signatureRow is signatureColumns.
type signatureRow struct {
	Identity
	SeenBuilds
	triageRow
	figureRow
	Measured string
}

func (r *signatureRow) signature() Signature {
	return Signature{Identity: r.Identity, Triage: r.triage(), SeenBuilds: r.SeenBuilds, Latest: r.figure(),
		Measured: r.Measured}
}

// FindSignature returns the leak with a signature, or ErrNotFound. A signature that became part of another leak finds
// that leak.
func (v View) FindSignature(ctx context.Context, project, text string) (Signature, error) {
	row, err := db.One[signatureRow](ctx, db.Q(v), `
		select `+signatureColumns+` from signatures asked join projects p on p.id = asked.project_id join signatures s on s.id = asked.root_id
		where p.name = $1 and asked.text = $2`, project, text)
	if err != nil {
		return Signature{}, db.Wrap("signature", err)
	}
	s := row.signature()
	return s, db.Wrap("states of a signature", complete(ctx, db.Q(v), []*Signature{&s}))
}

// signatureIDs are the ids of a project, of its signature of some text, and of the leak that this signature is part of.
type signatureIDs struct{ Project, Own, Root int64 }

// rootOf finds a project's signature by its text.
func rootOf(ctx context.Context, q db.Querier, project, text string) (signatureIDs, error) {
	at, err := db.One[signatureIDs](ctx, q, `
		select p.id as project, s.id as own, s.root_id as root from signatures s join projects p on p.id = s.project_id where p.name = $1 and s.text = $2`, project, text)
	return at, db.Wrap("signature", err)
}

// lockedRoot is rootOf, and holds the lock of the project's signatures.
func lockedRoot(ctx context.Context, tx pgx.Tx, project, text string) (signatureIDs, error) {
	at, err := rootOf(ctx, tx, project, text)
	if err != nil {
		return at, err
	}
	if err := lockSignatures(ctx, tx, at.Project); err != nil {
		return at, err
	}
	return rootOf(ctx, tx, project, text) // it may have become part of another meanwhile
}
