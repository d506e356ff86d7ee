package store

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

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
}

// A TargetError says which part of a target is wrong.
type TargetError struct{ Field, Message string }

func (e *TargetError) Error() string { return e.Field + ": " + e.Message }

// nameForm is what names of projects may look like: they are part of addresses.
var nameForm = regexp.MustCompile(`^[\pL\pN][\pL\pN ._+@#:/-]{0,127}$`)

// projectForm is stricter: a project's name is one element of an address.
var projectForm = regexp.MustCompile(`^[\pL\pN][\pL\pN ._+@-]{0,63}$`)

// Normalize fills defaults in and checks the names. A build whose name is a number is ordered by it unless a
// sequence is declared.
func (t *Target) Normalize() error {
	for _, field := range []struct {
		name     string
		value    *string
		fallback string
		form     *regexp.Regexp
	}{
		{"project", &t.Project, "", projectForm}, {"build", &t.Build, "", nameForm},
		{"scenario", &t.Scenario, "default", nameForm}, {"run", &t.Run, "1", nameForm},
	} {
		*field.value = strings.TrimSpace(*field.value)
		if *field.value == "" {
			*field.value = field.fallback
		}
		switch {
		case *field.value == "":
			return &TargetError{field.name, "is missing"}
		case !field.form.MatchString(*field.value):
			return &TargetError{field.name, fmt.Sprintf("%q is not a name: letters, digits and . _ - + @, starting with a letter or digit, at most 128 characters", *field.value)}
		}
	}
	if t.Sequence == nil {
		if n, err := strconv.ParseInt(t.Build, 10, 64); err == nil {
			t.Sequence = &n
		}
	}
	return nil
}

// ensureRun finds the target's run or makes it, and returns its id. A declared sequence or branch updates the build.
func ensureRun(ctx context.Context, tx pgx.Tx, t Target) (int64, error) {
	var run int64
	// "do update" instead of "do nothing", so that the row comes back whether it was there or not.
	err := tx.QueryRow(ctx, `
		with project as (
			insert into projects (name) values ($1)
			on conflict (name) do update set name = excluded.name returning id),
		build as (
			insert into builds (project_id, name, sequence, branch) select id, $2, $3, $4 from project
			on conflict (project_id, name) do update set
				sequence = coalesce(excluded.sequence, builds.sequence),
				branch = case when excluded.branch = '' then builds.branch else excluded.branch end
			returning id),
		scenario as (
			insert into scenarios (project_id, name) select id, $5 from project
			on conflict (project_id, name) do update set name = excluded.name returning id)
		insert into runs (build_id, scenario_id, name) select build.id, scenario.id, $6 from build, scenario
		on conflict (build_id, scenario_id, name) do update set name = excluded.name
		returning id`, t.Project, t.Build, t.Sequence, t.Branch, t.Scenario, t.Run).Scan(&run)
	return run, err
}
