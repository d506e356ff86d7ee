package store

import (
	"context"
	"fmt"
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
