package store

import (
	"context"

	"heapdrift/internal/store/internal/db"
)

// A BuildDetail is a build with the facts that can be corrected.
type BuildDetail struct {
	BuildRef
	Fork      string // the build at which its branch left the parent line; "" where not declared
	Ancestors int    // how many commits behind it are known
	Runs      []Run  // the oldest first
}

// FindBuild returns a build with its runs, or ErrNotFound.
func (v View) FindBuild(ctx context.Context, project, build string) (*BuildDetail, error) {
	type row struct {
		ID int64
		BuildRef
		Fork      string
		Ancestors int
	}
	b, err := db.One[row](ctx, db.Q(v), `
		select b.id, b.name, b.sequence, b.branch, b.commit, b.pinned, b.fork, cardinality(b.ancestors) as ancestors
		from builds b join projects p on p.id = b.project_id where p.name = $1 and b.name = $2`, project, build)
	if err != nil {
		return nil, db.Wrap("build", err)
	}
	runs, err := db.All[Run](ctx, db.Q(v), `select `+runColumns+runTables+` where r.build_id = $1 order by r.id`, b.ID)
	return &BuildDetail{BuildRef: b.BuildRef, Fork: b.Fork, Ancestors: b.Ancestors, Runs: runs},
		db.Wrap("runs of build", err)
}
