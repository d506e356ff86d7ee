package heapprofile

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
	"heapdrift/ingest/plaintext"
)

// KindMimallocStats marks the statistics that mimalloc prints.
const KindMimallocStats capture.Kind = "mimalloc-stats"

// CodeNoStats is the code of the error for texts without statistics of mimalloc.
const CodeNoStats = "no-mimalloc-stats"

// mostStats bounds the statistics of a text.
const mostStats = 1000

// SniffStats reports whether head, the first bytes of a text, has statistics of mimalloc.
func SniffStats(head []byte) bool {
	text, _ := io.ReadAll(plaintext.NewDecoder(bytes.NewReader(head))) // reading from memory does not fail
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, newline)
		if _, ok := statColumns(string(trim(line))); ok {
			return true
		}
		text = rest
	}
	return false
}

// ReadStats reads what mi_stats_print and MIMALLOC_SHOW_STATS=1 print, out of the output of a program: a capture for
// each time. It has sums and no call stacks. The layouts are those of stats.c of mimalloc:
//
//	heap stats:    peak      total      freed    current       unit      count     ← versions 1 and 2, some without current
//	  reserved:    1.0 GiB    1.0 GiB      0        1.0 GiB
//	 committed:   24.5 MiB   30.1 MiB    6.0 MiB   24.1 MiB                          not all freed!
//
//	subproc 0                                                         ← version 3
//	 blocks               peak       total     current       block      total#
//	  allocated   :   12.0 MiB    96.0 MiB    11.5 MiB
//	 arenas               peak       total     current
//	  reserved    :    1.0 GiB     1.0 GiB     1.0 GiB
//	  committed   :   24.5 MiB    30.1 MiB    24.1 MiB
//
// Sizes are rounded to a decimal.
func ReadStats(ctx context.Context, r io.Reader) ([]*capture.Capture, error) {
	s := &stats{}
	in := newLines(ctx, r)
	for {
		line, ok := in.next()
		if !ok {
			break
		}
		s.line(string(trim(line)))
	}
	s.close()
	switch {
	case in.err != nil:
		return s.done, failure(ctx, in.err, in.number)
	case len(s.done) == 0:
		return nil, &evidence.Error{Code: CodeNoStats, Message: "the text has no sizes of mimalloc's statistics", Line: in.number,
			Do: "run the program with MIMALLOC_SHOW_STATS=1 and give all of its output"}
	}
	return s.done, nil
}

// stats are the statistics of a text while it is read.
type stats struct {
	columns []string // of the table at hand
	section string   // of version 3: "subproc", "heap"
	now     *capture.HeapFacts
	done    []*capture.Capture
}

// statColumns reads the line above a table.
func statColumns(text string) ([]string, bool) {
	words := strings.Fields(strings.TrimPrefix(text, "heap stats:"))
	if !strings.HasPrefix(text, "heap stats:") {
		if len(words) < 4 {
			return nil, false
		}
		switch words[0] {
		case "blocks", "pages", "arenas", "process":
		default:
			return nil, false
		}
		words = words[1:]
	}
	return words, len(words) >= 3 && words[0] == "peak" && words[1] == "total"
}

func (s *stats) line(text string) {
	words := strings.Fields(text)
	if len(words) == 2 && (words[0] == "heap" || words[0] == "subproc" || words[0] == "meta") && isNumber(words[1]) {
		s.close()
		s.section = words[0]
		return
	}
	if columns, ok := statColumns(text); ok {
		if strings.HasPrefix(text, "heap stats:") && s.now != nil && s.now.Committed != 0 { // of detailed statistics the line comes twice
			s.close()
		}
		s.columns = columns
		return
	}
	name, rest, ok := strings.Cut(text, ":")
	if !ok || s.columns == nil {
		return
	}
	current, ok := s.current(rest)
	if !ok {
		return
	}
	if s.now == nil {
		s.now = &capture.HeapFacts{Kind: "mimalloc"}
	}
	switch strings.TrimSpace(name) {
	case "reserved":
		s.now.Reserved = current
	case "committed":
		s.now.Committed = current
	case "allocated", "total": // of builds with detailed statistics
		s.now.Busy.Bytes = current
	}
}

func isNumber(word string) bool {
	_, rest, ok := cutNumber([]byte(word))
	return ok && len(rest) == 0
}

// current is the amount in the column current, or total less freed.
func (s *stats) current(rest string) (int64, bool) {
	values := amounts(rest)
	column := func(name string) (int64, bool) {
		for i, c := range s.columns {
			if c == name && i < len(values) {
				return values[i], true
			}
		}
		return 0, false
	}
	if v, ok := column("current"); ok {
		return v, true
	}
	total, hasTotal := column("total")
	freed, hasFreed := column("freed")
	return max(0, total-freed), hasTotal && hasFreed
}

// amounts reads "24.5 MiB   30.1 MiB    0    1.0 k": numbers, each with its unit where it has one.
func amounts(text string) (list []int64) {
	for _, word := range strings.Fields(text) {
		var v float64
		if n, err := fmt.Sscanf(word, "%g", &v); n == 1 && err == nil && word[0] != '+' && isDecimal(word) {
			list = append(list, int64(math.Round(min(v, mostHeld))))
			continue
		}
		scale, ok := statUnits[strings.ToLower(word)]
		if !ok || len(list) == 0 {
			return list
		}
		var number float64
		_, _ = fmt.Sscanf(lastNumber(text, len(list)), "%g", &number) // it was read above
		list[len(list)-1] = int64(math.Round(min(number*scale, mostHeld)))
	}
	return list
}

func isDecimal(word string) bool {
	return strings.Trim(word, "0123456789.") == "" && strings.Count(word, ".") <= 1 && word[0] != '.'
}

// lastNumber is the n-th number of a text.
func lastNumber(text string, n int) string {
	for _, word := range strings.Fields(text) {
		if isDecimal(word) {
			if n--; n == 0 {
				return word
			}
		}
	}
	return ""
}

// statUnits are the units of sizes; a size without one is bytes.
var statUnits = map[string]float64{
	"b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30,
	"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30,
}

// close makes the capture of the table at hand. Of version 3 only the sum of all heaps is taken.
func (s *stats) close() {
	now := s.now
	s.now, s.columns = nil, nil
	isPart := s.section != "" && s.section != "subproc"
	if now == nil || isPart || len(s.done) == mostStats ||
		now.Reserved == 0 && now.Committed == 0 && now.Busy.Bytes == 0 {
		return
	}
	s.done = append(s.done, &capture.Capture{Kind: KindMimallocStats, Shape: capture.ShapeFacts,
		Snapshots: make([]capture.Snapshot, 1), Memory: &capture.Memory{Source: "mimalloc", Heaps: []capture.HeapFacts{*now},
			Notes: []capture.Note{{Topic: capture.TopicMethod,
				Text:   "mimalloc's statistics have sums, rounded to a decimal, and no call stacks.",
				Advice: "Give profiles, which mimalloc writes with MIMALLOC_PROFILE=prefix, or record the program on Windows."}}}})
}
