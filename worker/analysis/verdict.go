package analysis

import (
	"fmt"
	"strconv"
)

// SnapshotsToDecide is how many snapshots a statement about a leak needs: with fewer, growth that has come to
// its end looks the same as growth that goes on.
const SnapshotsToDecide = 5

// classify says what the growth of a site looks like. A snapshot that ends early can hide blocks, so it never
// makes a site stable.
func classify(a Amounts, snapshots []Snapshot) Class {
	switch {
	case a.Growth == nil:
		return ClassUnknown
	case a.Growth.Bytes > 0 || a.Growth.Count > 0:
		return ClassGrowing
	case snapshots[0].LowerBound || snapshots[len(snapshots)-1].LowerBound:
		return ClassUnknown
	}
	return ClassStable
}

// decide draws the conclusion.
func decide(r *Report) Verdict {
	v := Verdict{Status: StatusInconclusive}
	n := len(r.Snapshots)
	growing := 0
	for i := range r.Sites {
		if r.Sites[i].Verdict == ClassGrowing {
			growing++
		}
	}
	if n < SnapshotsToDecide && r.Trace == nil {
		v.SnapshotsMissing = SnapshotsToDecide - n
	}
	lossy := firstLossy(r.Warnings)
	if growing == 0 && v.SnapshotsMissing == 0 && lossy == nil && !isAbsent(r) && !isInstant(r) {
		v.Status = StatusNoLeak
	}
	seen := what
	if r.Trace != nil {
		seen = whatOfTrace
	}
	v.Sentence = seen(r, growing) + "; " + conclusion(v, growing, lossy) + "."
	return v
}

// what says what was seen.
func what(r *Report, growing int) string {
	name, n := r.Process.Name, len(r.Snapshots)
	if name == "" {
		name = "The process"
	}
	total := r.Totals.Heap.Outstanding
	total.Bytes += r.Totals.Virtual.Outstanding.Bytes
	total.Count += r.Totals.Virtual.Outstanding.Count
	if n == 1 {
		return fmt.Sprintf("%s holds %s in %s at one instant", name, Bytes(total.Bytes), blocks(total.Count))
	}
	if len(r.Sites) == 0 {
		return fmt.Sprintf("%s: no stack changed between the two instants", name)
	}
	if growing == 0 {
		return fmt.Sprintf("%s: nothing grew over %d snapshots; it holds %s in %s", name, n, Bytes(total.Bytes), blocks(total.Count))
	}
	growth := *r.Totals.Heap.Growth
	growth.Bytes += r.Totals.Virtual.Growth.Bytes
	growth.Count += r.Totals.Virtual.Growth.Count
	top := &r.Sites[0]
	s := fmt.Sprintf("%s grew by %s in %s over %d snapshots", name, Bytes(growth.Bytes), blocks(growth.Count), n)
	if growth.Bytes <= 0 {
		s = fmt.Sprintf("%s shrank by %s in all over %d snapshots while %s grew", name, Bytes(-growth.Bytes), n, stacks(growing))
	}
	return fmt.Sprintf("%s; the most, %s in %s, from %s", s, Bytes(top.Growth.Bytes), blocks(top.Growth.Count), top.Where())
}

// conclusion says what may be concluded, and what it takes to know more.
func conclusion(v Verdict, growing int, lossy *Warning) string {
	if lossy != nil && v.SnapshotsMissing == 0 {
		return fmt.Sprintf("inconclusive because of the evidence (%s)", lossy.Code)
	}
	switch {
	case v.SnapshotsMissing > 0:
		s := fmt.Sprintf("%d more snapshots of the same process would decide whether it leaks", v.SnapshotsMissing)
		if v.SnapshotsMissing == 1 {
			s = "1 more snapshot of the same process would decide whether it leaks"
		}
		if lossy != nil {
			s += fmt.Sprintf(" (the evidence is damaged as well: %s)", lossy.Code)
		}
		return s
	case growing == 0 && v.Status == StatusInconclusive:
		return "choose a window that shows more of it"
	case growing == 0:
		return "no leak seen"
	}
	return stacks(growing) + " grew, which a leak and a cache that is not full yet both do"
}

func firstLossy(warnings []Warning) *Warning {
	for i := range warnings {
		if warnings[i].Code.Lossy() {
			return &warnings[i]
		}
	}
	return nil
}

// Where names a site in a sentence: its blame frame, with file and line where known.
func (s *Site) Where() string {
	i := BlameFrame(s.Stack)
	if i < 0 {
		return "allocations without a stack"
	}
	f := s.Stack[i]
	if f.File == "" {
		return f.Name()
	}
	return f.Name() + " (" + f.Place() + ")"
}

func blocks(n int64) string { return Plural(n, "block") }
func stacks(n int) string   { return Plural(int64(n), "stack") }

// Plural prints how many there are of something, "1 block", "2,041 blocks".
func Plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return Count(n) + " " + word + "s"
}

// Count prints a number with thousands separated by commas and a true minus sign.
func Count(n int64) string {
	digits, sign := strconv.FormatInt(n, 10), ""
	if n < 0 {
		digits, sign = digits[1:], "−"
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// Bytes prints a size with three significant digits, 1 KB = 1,024 bytes as Windows tools count.
func Bytes(n int64) string {
	v, unit, sign := float64(n), 0, ""
	if n < 0 {
		v, sign = -v, "−"
	}
	if v < 1024 {
		return Count(n) + " B"
	}
	for v >= 999.5 && unit < 4 {
		v /= 1024
		unit++
	}
	decimals := 2
	if v >= 99.95 {
		decimals = 0
	} else if v >= 9.995 {
		decimals = 1
	}
	return sign + strconv.FormatFloat(v, 'f', decimals, 64) + " " + [...]string{"B", "KB", "MB", "GB", "TB"}[unit]
}

// readerWarnings passes on what the readers said, each with its file.
func readerWarnings(parts []part) []Warning {
	var list []Warning
	for _, p := range parts {
		for _, w := range p.Warnings {
			list = append(list, Warning{Code: w.Code, Message: w.Message, Count: w.Count, File: p.file, Place: w.Place})
		}
	}
	return list
}
