package umdh_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
	"heapdrift/ingest/umdh"
)

// read reads a log that must be readable, in a base.
func read(t testing.TB, log []byte, base umdh.Base) []*capture.Capture {
	t.Helper()
	captures, err := umdh.Read(context.Background(), bytes.NewReader(log), umdh.Options{Base: base})
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	return captures
}

// render writes everything a capture says, one fact a line.
func render(c *capture.Capture) string {
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	line("%s %q pid %d, %d bits, machine %q", c.Kind, c.Process.Name, c.Process.PID, c.Process.Bits, c.Process.Machine)
	for i, s := range c.Snapshots {
		at, bound := "?", ""
		if !s.TakenAt.IsZero() {
			at = s.TakenAt.Format("2006-01-02T15:04Z07:00")
		}
		if s.LowerBound {
			bound = " lower bound"
		}
		line("snapshot %s%s: %s", at, bound, usage(c.Total(i)))
	}
	for _, m := range c.Modules {
		line("module %X+%X %s %s %s (%s)", m.Base, m.Size, m.Path, m.PDB, m.DebugID, m.Symbols)
	}
	for _, h := range c.Heaps {
		partial := ""
		if h.Partial {
			partial = " partial"
		}
		line("heap %X%s", h.Handle, partial)
	}
	for i := range c.Sites {
		s := &c.Sites[i]
		heap := "-"
		if s.Heap != capture.NoHeap {
			heap = fmt.Sprintf("%X", c.Heaps[s.Heap].Handle)
		}
		line("site %X heap %s", s.Trace, heap)
		for _, u := range s.Usage {
			line("  %s", usage(u))
		}
		line("  %s", stack(c, s.Stack))
		for _, a := range s.AliasStacks {
			line("  or %s", stack(c, a))
		}
	}
	for b := range c.Blocks.All() {
		line("block %X %d of %X", b.Address, b.Size, c.Sites[b.Site].Trace)
	}
	line("%s", strings.Join(warnings(c), "\n"))
	return out.String()
}

func usage(u capture.Usage) string {
	return fmt.Sprintf("%d blocks, %d + %d bytes", u.Count, u.Bytes, u.Overhead)
}

func stack(c *capture.Capture, id capture.StackID) string {
	if id == capture.NoStack {
		return "no stack"
	}
	var frames []string
	for _, f := range c.Stacks.Stack(id) {
		frame := c.Stacks.Frame(f)
		text := ""
		if t := c.Stacks.Text(frame); t != nil {
			text = fmt.Sprintf("%s!%s+%X", t.Module, t.Function, t.Offset)
			if t.File != "" {
				text += fmt.Sprintf(" (%s:%d)", t.File, t.Line)
			}
		}
		if frame.Address != 0 {
			text = strings.TrimSpace(fmt.Sprintf("%X %s", frame.Address, text))
		}
		frames = append(frames, text)
	}
	return strings.Join(frames, " < ")
}

func warnings(c *capture.Capture) (all []string) {
	for _, w := range c.Warnings {
		place := w.Place
		if place != "" {
			place = " at " + place
		}
		all = append(all, fmt.Sprintf("! %s x%d%s: %s", w.Code, w.Count, place, w.Message))
	}
	return all
}

// codes lists the codes of a capture's warnings in their order.
func codes(c *capture.Capture) string {
	var all []string
	for _, w := range c.Warnings {
		all = append(all, string(w.Code))
	}
	return strings.Join(all, " ")
}

func code(err error) string {
	var ours *evidence.Error
	if errors.As(err, &ours) {
		return ours.Code
	}
	return fmt.Sprint(err)
}
