package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/audit"
	"heapdrift/internal/store/internal/db"
)

// FindSourceLinks returns the links to the source files of a project.
func (v View) FindSourceLinks(ctx context.Context, project string) (leaks.SourceLinks, error) {
	type linkTexts struct{ SourceLinks, CommitsLink string }
	texts, err := db.One[linkTexts](ctx, db.Q(v),
		`select source_links, commits_link from projects where name = $1`, project)
	if err != nil {
		return leaks.SourceLinks{}, db.Wrap("source links", err)
	}
	links, err := leaks.ParseSourceLinks(texts.SourceLinks, texts.CommitsLink)
	return links, db.Wrap("source links", err)
}

// UpdateSourceLinks replaces the links of a project.
func (s *Store) UpdateSourceLinks(ctx context.Context, project string, links leaks.SourceLinks, by string) error {
	return db.Tx(ctx, s, "set source links", func(tx pgx.Tx) error {
		type projectLinks struct {
			ID          int64
			SourceLinks string
			CommitsLink string
		}
		old, err := db.One[projectLinks](ctx, tx,
			`select id, source_links, commits_link from projects where name = $1 for update`, project)
		if err != nil {
			return db.Wrap("project", err)
		}
		if old.SourceLinks == links.FilesText() && old.CommitsLink == links.CommitTemplate() {
			return nil
		}
		if _, err := tx.Exec(ctx, `update projects set source_links = $2, commits_link = $3 where id = $1`, old.ID,
			links.FilesText(), links.CommitTemplate()); err != nil {
			return err
		}
		return audit.RecordProjectChange(ctx, tx, old.ID, by, "source links",
			map[string]any{"links": old.SourceLinks, "commits": old.CommitsLink},
			map[string]any{"links": links.FilesText(), "commits": links.CommitTemplate()})
	})
}

// ListCommits returns the commits of builds by the names of the builds; builds whose commit is not declared are left
// out.
func (v View) ListCommits(ctx context.Context, project string, builds ...string) (map[string]string, error) {
	type buildCommit struct{ Name, Commit string }
	list, err := db.All[buildCommit](ctx, db.Q(v), `
		select b.name, b.commit from builds b join projects p on p.id = b.project_id where p.name = $1 and b.name = any($2) and b.commit <> ''`, project, builds)
	commits := make(map[string]string, len(list))
	for _, b := range list {
		commits[b.Name] = b.Commit
	}
	return commits, db.Wrap("commits", err)
}
