package store

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

// A Target says where evidence belongs.
type Target struct {
	Project  string `json:"project"`
	Build    string `json:"build"`
	Sequence *int64 `json:"sequence,omitempty"` // place among the project's builds; nil where not declared
	Branch   string `json:"branch,omitempty"`
	Scenario string `json:"scenario"`
	Run      string `json:"run"`
	// Work is how much work the process had done when the evidence was taken, counted in WorkUnits; nil where not declared.
	Work     *float64 `json:"work,omitempty"`
	WorkUnit string   `json:"work_unit,omitempty"` // "document", "request"; of the whole run
}

// A TargetError says which part of a target is wrong.
type TargetError struct{ Field, Message string }

func (e *TargetError) Error() string { return e.Field + ": " + e.Message }

// A nameForm is what a kind of name may look like, as a pattern with a limit in characters, and in words.
type nameForm struct {
	pattern *regexp.Regexp
	limit   int
	words   string
}

var (
	anyName = nameForm{regexp.MustCompile(`^[\pL\pN][\pL\pN ._+@#:/-]*$`), 128, "letters, digits, spaces and . _ + @ # : / -, starting with a letter or digit, at most 128 characters"}
	// A project's name is one element of an address.
	projectName = nameForm{regexp.MustCompile(`^[\pL\pN][\pL\pN ._+@-]*$`), 64, "letters, digits, spaces and . _ + @ -, starting with a letter or digit, at most 64 characters"}
)

func (f nameForm) fits(name string) bool {
	return utf8.RuneCountInString(name) <= f.limit && f.pattern.MatchString(name)
}

// Normalize fills defaults in and checks the names. A build whose name is a number is ordered by it unless a
// sequence is declared.
func (t *Target) Normalize() error {
	for _, field := range []struct {
		name     string
		value    *string
		fallback string
		required bool
		form     nameForm
	}{
		{"project", &t.Project, "", true, projectName}, {"build", &t.Build, "", true, anyName},
		{"scenario", &t.Scenario, "default", true, anyName}, {"run", &t.Run, "1", true, anyName}, {"branch", &t.Branch, "", false, anyName},
	} {
		*field.value = strings.TrimSpace(*field.value)
		if *field.value == "" {
			*field.value = field.fallback
		}
		switch {
		case *field.value == "" && field.required:
			return &TargetError{field.name, "is missing"}
		case *field.value != "" && !field.form.fits(*field.value):
			return &TargetError{field.name, fmt.Sprintf("%q is not a name: %s", *field.value, field.form.words)}
		}
	}
	if t.Sequence == nil {
		if n, err := strconv.ParseInt(t.Build, 10, 64); err == nil {
			t.Sequence = &n
		}
	}
	return t.normalizeWork()
}

// maxUnit is how long the name of a work counter may be, in characters.
const maxUnit = 32

func (t *Target) normalizeWork() error {
	t.WorkUnit = strings.TrimSpace(t.WorkUnit)
	switch {
	case t.Work != nil && (math.IsNaN(*t.Work) || math.IsInf(*t.Work, 0) || *t.Work < 0):
		return &TargetError{"work", "is not a number of 0 or more"}
	case t.WorkUnit != "" && (!anyName.fits(t.WorkUnit) || utf8.RuneCountInString(t.WorkUnit) > maxUnit):
		return &TargetError{"work_unit", fmt.Sprintf("%q is not the name of a unit: at most %d letters and digits, as in document", t.WorkUnit, maxUnit)}
	case t.Work != nil && t.WorkUnit == "":
		t.WorkUnit = "iteration"
	}
	return nil
}

// ensureRun finds the target's run or makes it, and returns its id. A declared sequence or branch updates the build; where
// the build takes another place among the others by it, the project's history is to be read again.
func ensureRun(ctx context.Context, tx pgx.Tx, t Target) (int64, error) {
	var run int64
	// "do update" instead of "do nothing", so that the row comes back whether it was there or not. Of a project a column is set
	// that is no key: else the row would be locked against those who refer to it, and they may hold the run that is wanted next.
	err := tx.QueryRow(ctx, `
		with moved as (
			select b.project_id from builds b join projects p on p.id = b.project_id
			where p.name = $1 and b.name = $2 and $3::bigint is not null and b.sequence is distinct from $3::bigint),
		project as (
			insert into projects (name) values ($1)
			on conflict (name) do update set created_at = projects.created_at returning id),
		noted as (insert into reordered (project_id) select project_id from moved),
		build as (
			insert into builds (project_id, name, sequence, branch) select id, $2, $3, $4 from project
			on conflict (project_id, name) do update set
				sequence = coalesce(excluded.sequence, builds.sequence),
				branch = case when excluded.branch = '' then builds.branch else excluded.branch end
			returning id),
		scenario as (
			insert into scenarios (project_id, name) select id, $5 from project
			on conflict (project_id, name) do update set name = excluded.name returning id)
		insert into runs (build_id, scenario_id, name, work_unit) select build.id, scenario.id, $6, $7 from build, scenario
		on conflict (build_id, scenario_id, name) do update set work_unit = case when excluded.work_unit = '' then runs.work_unit else excluded.work_unit end
		returning id`, t.Project, t.Build, t.Sequence, t.Branch, t.Scenario, t.Run, t.WorkUnit).Scan(&run)
	return run, err
}
