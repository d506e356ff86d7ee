package export

import (
	"fmt"
	"strings"

	"heapdrift/internal/analysis"
)

// umdh writes the sites as UMDH prints a difference between the first and the last snapshot, with symbols, so that
// scripts and tools which read UMDH's text read this too. Numbers are hexadecimal, as UMDH prints them without -d. A
// stack to which the evidence gives no id has the number of its site: BackTrace0 would say that it has no stack. The
// total has the form of the oldest versions, which do not count overhead.
func umdh(p *printer, r *analysis.Report, _ Options) {
	var total int64
	for i := range r.Sites {
		s := &r.Sites[i]
		e := UMDHEntry{Held: s.Outstanding, Growth: growthOf(&s.Amounts), Stacks: [][]*analysis.Frame{r.Stack(s.Stack)}}
		e.Held, _ = s.HeldBeforeExit()
		if len(s.Traces) > 0 {
			e.ID = s.Traces[0]
		} else if len(e.Stacks[0]) > 0 {
			e.ID = fmt.Sprintf("%X", i+1)
		}
		for _, alias := range s.AliasStacks {
			e.Stacks = append(e.Stacks, r.Stack(alias))
		}
		for line := range strings.Lines(e.Text()) {
			p.line("%s", strings.TrimSuffix(line, "\n"))
		}
		p.line("")
		total += e.growth().Bytes
	}
	course := "decrease" // of nothing, too
	if total > 0 {
		course = "increase"
	}
	p.line("Total %s == %6x", course, magnitude(total))
}

// A UMDHEntry is a site in a difference that UMDH would print.
type UMDHEntry struct {
	ID     string // BackTrace id of the stack; "" for none
	Held   analysis.Amount
	Growth *analysis.Amount    // nil counts all that is held as growth
	Stacks [][]*analysis.Frame // the site's own, then those under the same id; frames innermost first
}

func (e *UMDHEntry) growth() analysis.Amount {
	if e.Growth != nil {
		return *e.Growth
	}
	return e.Held
}

// Text prints the entry as UMDH does, with what is known.
func (e *UMDHEntry) Text() string {
	var b strings.Builder
	id, growth := e.ID, e.growth()
	if id == "" {
		id = "0"
	}
	fmt.Fprintf(&b, "%s %7x ( %6x - %6x) %6x allocs\tBackTrace%s\n", umdhSign(growth.Bytes), magnitude(growth.Bytes),
		e.Held.Bytes, e.Held.Bytes-growth.Bytes, e.Held.Count, id)
	fmt.Fprintf(&b, "%s %7x ( %6x - %6x)\tBackTrace%s\tallocations\n\n", umdhSign(growth.Count), magnitude(growth.Count),
		e.Held.Count, e.Held.Count-growth.Count, id)
	for i, stack := range e.Stacks {
		if i > 0 {
			b.WriteString("\tAlias\n")
		}
		for _, f := range stack {
			b.WriteString("\t" + UMDHFrame(f) + "\n")
		}
	}
	return b.String()
}

func umdhSign(n int64) string {
	if n < 0 {
		return "-"
	}
	return "+"
}

func magnitude(n int64) int64 { return max(n, -n) }

// UMDHFrame prints a frame as UMDH does: offsets in upper-case hex without 0x, and ??? for a name that is not known.
func UMDHFrame(f *analysis.Frame) string {
	offset := strings.ToUpper(strings.TrimPrefix(f.Offset, "0x"))
	if f.Function == "" {
		if f.Module == "" {
			return strings.ToUpper(strings.TrimPrefix(f.Address, "0x"))
		}
		return f.Module + "!???+" + offset
	}
	text := f.Module + "!" + f.Function
	if !f.Inline && offset != "" {
		text += "+" + offset
	}
	if f.File != "" {
		text += fmt.Sprintf(" (%s, %d)", f.File, f.Line)
	}
	return text
}
