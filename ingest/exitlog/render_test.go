package exitlog_test

import (
	"fmt"
	"strings"

	"heapdrift/ingest/capture"
)

// render prints captures for goldens: each site with its stack, the innermost frame first.
func render(captures []*capture.Capture, err error) string {
	var b strings.Builder
	reaches := [...]string{"", " unreferenced", " indirect", " possible", " reachable"}
	for _, c := range captures {
		fmt.Fprintf(&b, "%s process %q pid %d test %q lower bound %t\n", c.Kind, c.Process.Name, c.Process.PID, c.Test,
			c.Snapshots[0].LowerBound)
		for i := range c.Sites {
			s := &c.Sites[i]
			fmt.Fprintf(&b, "  %d bytes in %d%s\n", s.Usage[0].Bytes, s.Usage[0].Count, reaches[s.Reach])
			writeStack(&b, c, s.Stack, "    ")
			if c.Lines == nil {
				continue
			}
			for _, same := range c.Lines[i].SameBlocks {
				b.WriteString("    the same blocks are of\n")
				writeStack(&b, c, same, "      ")
			}
			if early := c.Lines[i].BeforeTests; early.Count > 0 {
				fmt.Fprintf(&b, "    before the first test: %d bytes in %d\n", early.Bytes, early.Count)
			}
		}
		if len(c.Ran) > 0 {
			fmt.Fprintf(&b, "  ran %q\n", c.Ran)
		}
		for _, w := range c.Warnings {
			fmt.Fprintf(&b, "  warning %s %d %s: %s\n", w.Code, w.Count, w.Place, w.Message)
		}
	}
	fmt.Fprintf(&b, "error %v\n", err)
	return b.String()
}

func writeStack(b *strings.Builder, c *capture.Capture, stack capture.StackID, indent string) {
	for _, id := range c.Stacks.Stack(stack) {
		f := c.Stacks.Frame(id)
		var text capture.FrameText
		if t := c.Stacks.Text(f); t != nil {
			text = *t
		}
		fmt.Fprintf(b, "%s%s!%s +%#x @%#x %s:%d\n", indent, text.Module, text.Function, text.Offset, f.Address, text.File, text.Line)
	}
}
