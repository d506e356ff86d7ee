package ui

import (
	"context"

	"github.com/a-h/templ"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// A Source says where lines of stacks can be read. The zero value knows nowhere.
type Source struct {
	Links         leaks.SourceLinks
	Build, Branch string
}

// URL is where a frame's line can be read; "" where nobody says.
func (s Source) URL(f *analysis.Frame) templ.SafeURL {
	return templ.SafeURL(s.Links.FileURL(f.File, f.Line, s.Build, s.Branch)) // the domain lets no other scheme than http through
}

// CommitsBetween is the address that shows the changes between two builds; "" where uploads do not name their commits,
// or the project does not say where commits can be read.
func CommitsBetween(ctx context.Context, from store.View, links leaks.SourceLinks, project, base,
	head string) (templ.SafeURL, error) {
	if links.CommitTemplate() == "" || base == "" || head == "" {
		return "", nil
	}
	commits, err := from.ListCommits(ctx, project, base, head)
	return templ.SafeURL(links.CompareURL(commits[base], commits[head])), err
}
