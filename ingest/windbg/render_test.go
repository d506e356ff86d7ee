package windbg_test

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/windbg"
)

// read reads a log that must be readable.
func read(t testing.TB, log string) []*capture.Capture {
	t.Helper()
	captures, err := windbg.Read(t.Context(), strings.NewReader(log))
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	return captures
}

// render writes what a capture says, one fact a line.
func render(c *capture.Capture) string {
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	m, at := c.Memory, "?"
	if taken := c.Snapshots[0].TakenAt; !taken.IsZero() {
		at = taken.Format("2006-01-02T15:04:05")
	}
	line("%s: %s %q pid %d, %d bits, machine %q, at %s, lower bound %t", c.Kind, m.Source, c.Process.Name, c.Process.PID,
		c.Process.Bits, c.Process.Machine, at, c.Snapshots[0].LowerBound)
	for _, h := range m.Heaps {
		line("heap %s %s %s %x %s reserved %d committed %d virtual %d free %s ucr %d blocks %s lock %d %s",
			h.Handle, h.Kind, bits(h.Bits), h.Flags, h.FrontEnd, h.Reserved, h.Committed, h.Virtual, usage(h.Free),
			h.UncommittedRanges, usage(h.Blocks), h.Contention, h.Note)
	}
	for _, g := range m.Groups {
		line("group %s of %s size %d: %s example %s %s%s", g.By, g.Heap, g.Size, usage(g.Usage), g.Example, g.Key,
			unreachable(g.Unreachable))
	}
	if r := m.Reach; r != nil {
		line("reach: of %s unreachable %s: %s", usage(r.Blocks), usage(r.Unreachable), r.Note)
	}
	if s := m.Space; s != nil {
		for _, u := range s.Uses {
			line("use %s: %d regions, %d bytes, largest %d", u.Name, u.Regions, u.Reserved, u.Largest)
		}
		for _, list := range [][]capture.Share{s.Types, s.States, s.Protections} {
			for _, share := range list {
				line("share %s: %d regions, %d bytes", share.Name, share.Regions, share.Bytes)
			}
		}
		line("largest free: %d at %s", s.LargestFree, s.LargestFreeAt)
	}
	for _, h := range m.Managed {
		line("managed %s: %d bytes, small %d, large %d, pinned %d, %d segments", h.Name, h.Bytes, h.Small,
			h.Large, h.Pinned, h.Segments)
	}
	for _, s := range m.Samples {
		line("sample %s: %#x, %d bytes, unreachable %t, note %q: %s", s.Title, s.Address, s.Size, s.Unreachable,
			s.Note, stack(c, s.Stack))
	}
	for _, n := range m.Notes {
		line("note %s: %s", n.Topic, n.Text)
	}
	for _, g := range m.Gaps {
		line("gap %s %s: %s", g.What, g.Heap, g.Why)
	}
	for _, w := range c.Warnings {
		line("%s (%d, %s): %s", w.Code, w.Count, w.Place, w.Message)
	}
	return out.String()
}

func bits(n uint8) string { return fmt.Sprintf("%d bits", n) }

func usage(u capture.Usage) string {
	s := fmt.Sprintf("%d in %d", u.Bytes, u.Count)
	if u.Overhead != 0 {
		s += fmt.Sprintf(" (+%d)", u.Overhead)
	}
	return s
}

func unreachable(u *capture.Usage) string {
	if u == nil {
		return ""
	}
	return " unreachable " + usage(*u)
}

func stack(c *capture.Capture, id capture.StackID) string {
	var frames []string
	for _, f := range c.Stacks.Stack(id) {
		frame := c.Stacks.Frame(f)
		text, s := c.Stacks.Text(frame), fmt.Sprintf("%x", frame.Address)
		if text != nil {
			s += fmt.Sprintf(" %s!%s+%x", text.Module, text.Function, text.Offset)
			if text.File != "" {
				s += fmt.Sprintf(" (%s:%d)", text.File, text.Line)
			}
		}
		frames = append(frames, s)
	}
	return strings.Join(frames, " < ")
}
