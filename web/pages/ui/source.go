package ui

import (
	"context"

	"github.com/a-h/templ"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// A Source makes links from stack frames to source lines. The zero value makes none.
type Source struct {
	Links         leaks.SourceLinks
	Build, Branch string
}

// URL is the address of a frame's source line; "" where unknown.
func (s Source) URL(f *analysis.Frame) templ.SafeURL {
	return templ.SafeURL(s.Links.FileURL(f.File, f.Line, s.Build, s.Branch)) // the domain lets no other scheme than http through
}

// CommitsBetween is the address of the changes between two builds; "" where uploads do not name their commits, or the
// project has no template for it.
func CommitsBetween(ctx context.Context, from store.View, links leaks.SourceLinks, project, base,
	head string) (templ.SafeURL, error) {
	if links.CommitTemplate() == "" || base == "" || head == "" {
		return "", nil
	}
	commits, err := from.ListCommits(ctx, project, base, head)
	return templ.SafeURL(links.CompareURL(commits[base], commits[head])), err
}
