package umdhtest

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
)

// A Base is the number base of a difference's counters.
type Base bool

// umdh prints hexadecimal numbers, and decimal ones with -d.
const (
	Hex     Base = false
	Decimal Base = true
)

// WriteDiff writes what umdh prints when it compares two logs: the stacks that changed, most growth first. An empty
// old snapshot gives what it prints for one log.
func (p *Process) WriteDiff(w io.Writer, old, now *Snapshot, base Base) error {
	out := bufio.NewWriterSize(w, 64<<10)
	type row struct {
		stack     int
		old, now  StackUsage
		bytes, by int64 // change
	}
	before, after := p.ByStack(old), p.ByStack(now)
	var rows []row
	for i := range after {
		if b, a := before[i], after[i]; b.Count != a.Count || b.Requested != a.Requested {
			rows = append(rows, row{i, b, a, a.Requested - b.Requested, a.Count - b.Count})
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.bytes, a.bytes) })

	fmt.Fprintf(out, "//%77s\r\n// Debug library initialized ...%47s\r\n", "", "")
	used := make([]bool, len(p.Modules))
	for _, r := range rows {
		if r.stack < len(p.Stacks) {
			for _, f := range p.Stacks[r.stack].Frames {
				if m := p.module(f.Address); m >= 0 {
					used[m] = true
				}
			}
		}
	}
	for i := range p.Modules {
		if used[i] {
			p.banner(out, &p.Modules[i])
		}
	}
	for _, text := range legend {
		fmt.Fprintf(out, "//%-77s\r\n", text)
	}
	fmt.Fprintf(out, "\r\n")

	first, second, last := "%s%8x ( %5x - %5x) %6x allocs\tBackTrace%X\r\n",
		"%s%8x ( %5x - %5x)\tBackTrace%X\tallocations\r\n\r\n", "Total %s == %6x requested + %6x overhead = %6x\r\n"
	if base == Decimal {
		first, second, last = "%s%8d ( %6d - %6d) %6d allocs\tBackTrace%X\r\n",
			"%s%8d ( %6d - %6d)\tBackTrace%X\tallocations\r\n\r\n", "Total %s == %6d requested + %6d overhead = %6d\r\n"
	}
	for _, r := range rows {
		id := uint64(0)
		if r.stack < len(p.Stacks) {
			id = p.Stacks[r.stack].ID
		}
		fmt.Fprintf(out, first, sign(r.bytes), magnitude(r.bytes), r.now.Requested, r.old.Requested, r.now.Count, id)
		fmt.Fprintf(out, second, sign(r.by), magnitude(r.by), r.now.Count, r.old.Count, id)
		if r.stack < len(p.Stacks) {
			for _, f := range p.Stacks[r.stack].Frames {
				p.frame(out, f)
			}
		}
		fmt.Fprintf(out, "\r\n\r\n")
	}
	is, was := Total(after), Total(before)
	requested, overhead := is.Requested-was.Requested, is.Overhead-was.Overhead
	way := "decrease"
	if requested+overhead > 0 {
		way = "increase"
	}
	fmt.Fprintf(out, last, way, magnitude(requested), magnitude(overhead), magnitude(requested+overhead))
	if err := out.Flush(); err != nil {
		return fmt.Errorf("umdhtest: write difference: %w", err)
	}
	return nil
}

// frame writes a line of a stack.
func (p *Process) frame(out *bufio.Writer, f Frame) {
	module := "<no module>"
	if m := p.module(f.Address); m >= 0 {
		module = p.Modules[m].name()
	}
	offset := "%X"
	if !p.modern() {
		offset = "%08X"
	}
	switch {
	case f.Function == "":
		fmt.Fprintf(out, "\t%s!???+"+offset+" : %X\r\n", module, 0, f.Address)
	case f.File != "":
		fmt.Fprintf(out, "\t%s!%s+"+offset+" (%s, %d)\r\n", module, f.Function, f.Offset, f.File, f.Line)
	default:
		fmt.Fprintf(out, "\t%s!%s+"+offset+"\r\n", module, f.Function, f.Offset)
	}
}

func sign(v int64) string {
	if v < 0 {
		return "-"
	}
	return "+"
}

func magnitude(v int64) int64 { return max(v, -v) }

// legend stands above the entries; each line is padded with blanks.
var legend = []string{
	"", " Each log entry has the following syntax:", "",
	" + BYTES_DELTA (NEW_BYTES - OLD_BYTES) NEW_COUNT allocs BackTrace TRACEID",
	" + COUNT_DELTA (NEW_COUNT - OLD_COUNT) BackTrace TRACEID allocations",
	"     ... stack trace ...", "", " where:", "",
	"     BYTES_DELTA - increase in bytes between before and after log",
	"     NEW_BYTES - bytes in after log",
	"     OLD_BYTES - bytes in before log",
	"     COUNT_DELTA - increase in allocations between before and after log",
	"     NEW_COUNT - number of allocations in after log",
	"     OLD_COUNT - number of allocations in before log",
	"     TRACEID - decimal index of the stack trace in the trace database",
	"         (can be used to search for allocation instances in the original",
	"         UMDH logs).", "",
}
