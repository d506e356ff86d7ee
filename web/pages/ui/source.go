package ui

import (
	"github.com/a-h/templ"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
)

// A Source says where lines of stacks can be read. The zero value knows nowhere.
type Source struct {
	Links         leaks.SourceLinks
	Build, Branch string
}

// URL is where a frame's line can be read; "" where nobody says.
func (s Source) URL(f *analysis.Frame) templ.SafeURL {
	return templ.URL(s.Links.URL(f.File, f.Line, s.Build, s.Branch))
}
