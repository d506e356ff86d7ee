package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// writeCensusText writes a census for a terminal, or for a bug report.
func writeCensusText(w io.Writer, c *census) error {
	var b strings.Builder
	fmt.Fprintf(&b, "start     %s\n", c.Start.Format(time.RFC3339Nano))
	fmt.Fprintf(&b, "covered   %s to %s after it\n", seconds(c.Covered.From), seconds(c.Covered.To))
	fmt.Fprintf(&b, "events    %d in %d classes\n", c.Events, len(c.Classes))
	for i := range c.Files {
		c.Files[i].text(&b)
	}
	if len(c.Warnings) > 0 {
		b.WriteString("\nwarnings\n")
		for _, m := range c.Warnings {
			fmt.Fprintf(&b, "  %s: %s%s\n", m.Code, m.Message, inBrackets(m.Place))
		}
	}
	b.WriteByte('\n')
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "%9s  %12s  %11s\theader\tclass\tevent\n", "events", "bytes", "payload")
	for i := range c.Classes {
		n := &c.Classes[i]
		payload := fmt.Sprint(n.Least)
		if n.Longest != n.Least {
			payload = fmt.Sprintf("%d..%d", n.Least, n.Longest)
		}
		fmt.Fprintf(table, "%9d  %12d  %11s\t%s\t%s\t%s\n", n.Events, n.Bytes, payload, n.Header, n.class(), n.event())
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// class says in words what the events are of.
func (n *censusClass) class() string {
	switch {
	case n.Group != nil:
		return strings.TrimSpace(fmt.Sprintf("group %#02x %s", *n.Group, n.Name))
	case n.Provider != "":
		return strings.TrimSpace(n.Provider + " " + n.Name)
	}
	return "message"
}

// event says in words which they are.
func (n *censusClass) event() string {
	if n.Group == nil && n.Provider == "" {
		return fmt.Sprintf("number %d", *n.ID)
	}
	s := fmt.Sprintf("op %d v%d %s", n.Op, n.Version, n.OpName)
	if n.ID != nil {
		s = fmt.Sprintf("id %d %s", *n.ID, s)
	}
	return strings.TrimSpace(s)
}

func (f *censusFile) text(b *strings.Builder) {
	fmt.Fprintf(b, "\n%s\n", f.Name)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(b, "  %-9s "+format+"\n", append([]any{name}, args...)...)
	}
	line("size", "%d bytes in %d buffers of %d, %d compressed; %d bytes of events", f.Bytes, f.Buffers, f.BufferSize,
		f.Compressed, f.EventBytes)
	line("system", "version %s, build %d, %d-bit header, %d CPUs at %d MHz", f.Version, f.Build, f.Bits, f.CPUs, f.MHz)
	line("session", "%q, mode %s%s", f.Session, f.Mode, inBrackets(strings.Join(f.Modes, ", ")))
	line("clock", "%s, %d per second", f.Clock, f.Frequency)
	line("boot", "%s", f.Boot.Format(time.RFC3339Nano))
	line("start", "%s, UTC%+d min", f.Start.Format(time.RFC3339Nano), f.UTCOffset)
	if f.End != nil {
		line("end", "%s", f.End.Format(time.RFC3339Nano))
	}
	line("losses", "%s", cmp.Or(f.Losses.text(), "none"))
}

// text names what is lost; "" for nothing.
func (l *censusLosses) text() string {
	var parts []string
	for _, n := range []struct {
		count int64
		what  string
	}{
		{l.EventsLost, "events lost"}, {l.BuffersLost, "buffers lost"}, {l.FlaggedEvents, "buffers flagged for lost events"},
		{l.FlaggedBuffers, "buffers flagged for a lost buffer"}, {l.MissingBuffers, "buffers missing"},
		{l.Overwritten, "buffers overwritten"},
		{l.CutBuffers, "buffers behind the file's end"},
		{l.SkippedBytes, "bytes between buffers"}, {l.BadBuffers, "buffers damaged"}, {l.BadBytes, "bytes of them unread"},
		{l.Disordered, "events disordered"},
	} {
		if n.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n.count, n.what))
		}
	}
	if l.Truncated {
		parts = append(parts, "truncated")
	}
	if l.Unfinished {
		parts = append(parts, "not stopped")
	}
	if l.FirstDamage != "" {
		parts = append(parts, "first damage at "+l.FirstDamage)
	}
	return strings.Join(parts, ", ")
}

func inBrackets(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// seconds writes nanoseconds as seconds.
func seconds(ns int64) string { return fmt.Sprintf("%.6f s", float64(ns)/1e9) }
