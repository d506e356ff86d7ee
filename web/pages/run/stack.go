package run

import (
	"github.com/a-h/templ"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/export"
	"heapdrift/web/pages/ui"
)

func viewOfStack(stack []*analysis.Frame) ui.StackParts { return ui.PartsOfStack(stack) }

// stackOf draws a stack; its first own frame is marked where it is the one that the site is counted against.
func stackOf(s ui.StackParts, blames bool, source ui.Source) templ.Component {
	return ui.Stack(s, blames, source)
}

// umdhText prints a site as UMDH prints a difference between the first and the last snapshot.
func (v siteView) umdhText() string {
	e := export.UMDHEntry{Held: analysis.Amount{Count: v.Count, Bytes: v.Bytes}, Stacks: v.stacks}
	if len(v.Traces) > 0 {
		e.ID = v.Traces[0]
	}
	if v.GrowthBytes != nil && v.GrowthCount != nil {
		e.Growth = &analysis.Amount{Count: *v.GrowthCount, Bytes: *v.GrowthBytes}
	}
	return e.Text()
}
