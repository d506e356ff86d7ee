package store

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/accounts"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/audit"
	"heapdrift/internal/store/internal/db"
)

// A PolicyFile is one version of a project's policies. A project that has saved none has version 0 and the default
// policies.
type PolicyFile struct {
	Version  int // counts from 1
	Policies leaks.Policies
	Author   string
	Verified bool // whether the author was logged in; else the name is as somebody typed it
	Note     string
	At       time.Time
}

// FindPolicy returns the present policies of a project, or ErrNotFound for no project.
func (v View) FindPolicy(ctx context.Context, project string) (PolicyFile, error) {
	id, err := projectID(ctx, db.Q(v), project)
	if err != nil {
		return PolicyFile{}, err
	}
	return policyOf(ctx, db.Q(v), id)
}

// ListPolicies lists all versions of a project's policies, newest first; or ErrNotFound.
func (v View) ListPolicies(ctx context.Context, project string) ([]PolicyFile, error) {
	id, err := projectID(ctx, db.Q(v), project)
	if err != nil {
		return nil, err
	}
	return readPolicies(ctx, db.Q(v), `true`, id)
}

// policyOf reads the present version.
func policyOf(ctx context.Context, q db.Querier, project int64) (PolicyFile, error) {
	list, err := readPolicies(ctx, q,
		`version = (select max(version) from project_policies where project_id = $1)`, project)
	if err != nil || len(list) > 0 {
		return append(list, PolicyFile{})[0], err
	}
	return PolicyFile{Policies: leaks.DefaultPolicies()}, nil
}

func readPolicies(ctx context.Context, q db.Querier, which string, project int64) ([]PolicyFile, error) {
	type row struct {
		Version                int
		Policies, Author, Note string
		Verified               bool
		At                     time.Time
	}
	rows, err := db.All[row](ctx, q,
		`select version, policies, author, verified, note, at from project_policies where project_id = $1 and `+which+
			` order by version desc`, project)
	if err != nil {
		return nil, db.Wrap("policies", err)
	}
	list := make([]PolicyFile, len(rows))
	for i, r := range rows {
		list[i] = PolicyFile{Version: r.Version, Author: r.Author, Verified: r.Verified, Note: r.Note, At: r.At}
		if list[i].Policies, err = leaks.ParsePolicies([]byte(r.Policies)); err != nil {
			return nil, fmt.Errorf("store: version %d of the policies: %w", r.Version, err)
		}
	}
	return list, nil
}

// A PolicyChange is a new version of a project's policies.
type PolicyChange struct {
	Policies     leaks.Policies // as leaks.ParsePolicies gave them
	Author, Note string
	Version      int64 // version that it is based on; negative for any
}

// CreatePolicy stores the next version of a project's policies. It returns ErrConflict where the present version is not
// the one that the change is based on.
func (s *Store) CreatePolicy(ctx context.Context, project string, change PolicyChange) (saved PolicyFile, err error) {
	if err := leaks.CheckActor(change.Author); err != nil {
		return saved, err
	}
	if err := leaks.CheckText("note", change.Note, leaks.MaxNoteChars); err != nil {
		return saved, err
	}
	if change.Version >= math.MaxInt32 { // which no version can be
		return saved, ErrConflict
	}
	text, err := change.Policies.JSON()
	if err != nil {
		return saved, fmt.Errorf("store: write policies: %w", err)
	}
	if _, err := leaks.ParsePolicies(text); err != nil { // what is stored can be read again
		return saved, err
	}
	err = db.Tx(ctx, s, "save policies", func(tx pgx.Tx) error {
		// Of two that save at once the second waits here, and finds the version of the first.
		id, err := db.Value[int64](ctx, tx, `select id from projects where name = $1 for no key update`, project)
		if err != nil {
			return db.Wrap("project", err)
		}
		present, err := db.Value[*int](ctx, tx, `select max(version) from project_policies where project_id = $1`, id)
		if err != nil {
			return err
		}
		if present == nil {
			present = new(0)
		}
		if change.Version >= 0 && change.Version != int64(*present) {
			return ErrConflict
		}
		if err := renewSettled(ctx, tx, id, &change.Policies); err != nil {
			return err
		}
		saved = PolicyFile{Version: *present + 1, Policies: change.Policies, Author: change.Author,
			Verified: accounts.IsVerified(ctx, change.Author), Note: change.Note}
		saved.At, err = db.Value[time.Time](ctx, tx,
			`insert into project_policies (project_id, version, policies, author, note, verified) values ($1, $2, $3, $4, $5, $6) returning at`,
			id, saved.Version, string(text), change.Author, change.Note, saved.Verified)
		if err != nil {
			return err
		}
		return audit.RecordProjectChange(ctx, tx, id, change.Author, "policy", map[string]any{"version": *present},
			map[string]any{"version": saved.Version, "note": saved.Note})
	})
	if err != nil {
		return PolicyFile{}, err
	}
	return saved, nil
}

// renewSettled queues the analysis of the runs for which new policies set another settle time than the present ones.
func renewSettled(ctx context.Context, tx pgx.Tx, project int64, policies *leaks.Policies) error {
	present, err := policyOf(ctx, tx, project)
	if err != nil {
		return err
	}
	names, err := db.Values[string](ctx, tx, `select name from scenarios where project_id = $1`, project)
	if err != nil {
		return db.Wrap("scenarios", err)
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return policies.Settle(name) == present.Policies.Settle(name)
	})
	if len(names) > 0 {
		_, err = queueAnalyses(ctx, tx, project, names)
	}
	return err
}
