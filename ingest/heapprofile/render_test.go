package heapprofile_test

import (
	"fmt"
	"strings"

	"heapdrift/ingest/capture"
)

// render prints captures for goldens: each site with its stack, the innermost frame first.
func render(captures []*capture.Capture, err error) string {
	var b strings.Builder
	for _, c := range captures {
		fmt.Fprintf(&b, "%s shape %d process %q pid %d bits %d sampling %d taken %s lower bound %t\n", c.Kind, c.Shape, c.Process.Name,
			c.Process.PID, c.Process.Bits, c.Sampling, c.Snapshots[0].WallClock(), c.Snapshots[0].LowerBound)
		for _, m := range c.Modules {
			fmt.Fprintf(&b, "  module %s %#x %#x %s\n", m.Path, m.Base, m.Size, m.Symbols)
		}
		places := capture.NewModuleMap(c.Modules)
		for i := range c.Sites {
			s := &c.Sites[i]
			fmt.Fprintf(&b, "  %d bytes in %d, reach %d\n", s.Usage[0].Bytes, s.Usage[0].Count, s.Reach)
			for _, id := range c.Stacks.Stack(s.Stack) {
				f := c.Stacks.Frame(id)
				fmt.Fprintf(&b, "    %#x", f.Address)
				if at := places.Find(f.Address); at >= 0 {
					fmt.Fprintf(&b, " %s+%#x", c.Modules[at].Name(), f.Address-c.Modules[at].Base)
				}
				if t := c.Stacks.Text(f); t != nil {
					fmt.Fprintf(&b, " %s!%s %s:%d inline %t", t.Module, t.Function, t.File, t.Line, t.Inline)
				}
				b.WriteString("\n")
			}
		}
		if m := c.Memory; m != nil {
			fmt.Fprintf(&b, "  memory %s %+v\n", m.Source, m.Heaps)
			for _, n := range m.Notes {
				fmt.Fprintf(&b, "  note %s: %s %s\n", n.Topic, n.Text, n.Advice)
			}
		}
		for _, w := range c.Warnings {
			fmt.Fprintf(&b, "  warning %s %d %s: %s\n", w.Code, w.Count, w.Place, w.Message)
		}
	}
	fmt.Fprintf(&b, "error %v\n", err)
	return b.String()
}
