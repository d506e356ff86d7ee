package windbg

import (
	"bytes"
	"fmt"

	"heapdrift/ingest/capture"
)

// stat reads !heap -stat: the sizes of a heap's busy blocks that hold the most, all numbers hexadecimal.
//
//	heap @ 00510000
//	group-by: TOTSIZE max-display: 20
//	    size     #blocks     total     ( %) (percent of total busy bytes)
//	    156600 21e - 2d4df400  (94.45)
type stat struct {
	r       *reader
	in      *instant // nil until the line after the first has told how blocks are grouped
	heap    uint64
	by      string
	most    int64   // how many sizes are listed
	rows    int64   // that were
	percent float64 // their sum
	bare    bool    // the line that begins the output is missing
}

// openSizes opens an excerpt that begins behind the line of its heap, which the command may tell, or the output before.
func openSizes(r *reader, text []byte) section {
	if c := text[0]; hexValue[c] < 0 && c != 's' && c != 'g' || bytes.IndexByte(text, '(') < 0 && c != 'g' {
		return nil
	}
	w := split(text)
	isHeader := w.n >= 3 && string(w.words[0]) == "size" && string(w.words[1]) == "#blocks" ||
		bytes.HasPrefix(text, []byte("group-by:")) && bytes.Contains(text, []byte("max-display"))
	if !isHeader && !isSizeRow(&w) {
		return nil
	}
	heap := heapOf(r.command)
	if heap == 0 {
		heap = r.sized
	}
	r.end()
	s := &stat{r: r, heap: heap, bare: !isHeader}
	s.line(text)
	return s
}

// isSizeRow reports whether a line can be nothing but the row of a size: "1f64 76c6 - e905f58  (99.99)".
func isSizeRow(w *row) bool {
	if w.n != 5 || string(w.words[2]) != "-" {
		return false
	}
	_, ok := percentage(w.words[4])
	return ok && isHex(string(w.words[0])) && isHex(string(w.words[1])) && isHex(string(w.words[3]))
}

func openStat(r *reader, text []byte) section {
	heap, ok := hex(bytes.TrimSpace(text[len("heap @ "):]))
	if !ok {
		return nil
	}
	r.end()
	r.question.answered, r.sized = true, heap
	return &stat{r: r, heap: heap}
}

// start begins the output: the same heap grouped in another way is another command.
func (s *stat) start() {
	if s.in != nil {
		return
	}
	key := fmt.Sprintf("!heap -stat %x %s", s.heap, s.by)
	if s.bare && s.r.now.has(key) { // it goes on behind what somebody wrote between its rows
		s.in = s.r.now
		return
	}
	s.r.section = nil // it is this one, and not over
	s.in = s.r.begin(key, sourceTotals)
	s.r.section = s
}

func (s *stat) line(text []byte) bool {
	if rest, ok := bytes.CutPrefix(text, []byte("group-by:")); ok {
		w := split(rest)
		s.by = plain(w.words[0])
		if w.n == 3 {
			s.most, _ = decimal(w.words[2])
		}
		s.start()
		return true
	}
	if bytes.HasPrefix(text, []byte("size ")) || bytes.HasPrefix(text, []byte("heap @ ")) && s.in == nil {
		return true // some versions print the first line twice
	}
	if isEllipsis(text) && s.in != nil {
		s.in.addNote(s.r, capture.TopicMethod, "sizes of a heap are left out in the log: its other blocks are in no group")
		return true
	}
	w := split(text)
	last := w.words[min(w.n, len(w.words))-1]
	if w.n < 3 || hexValue[text[0]] < 0 ||
		string(w.words[2]) != "-" && (w.n > 5 || last[0] != '(' && last[len(last)-1] != ')') {
		return false
	}
	size, isSize := size(w.words[0])
	if !isSize {
		return false
	}
	s.start()
	s.row(size, &w)
	return true
}

func (s *stat) row(each int64, w *row) {
	count, ok := size(w.words[1])
	total, okTotal := size(w.words[3])
	percent, okPercent := percentage(w.words[4])
	if w.n != 5 || !ok || !okTotal || !okPercent || string(w.words[2]) != "-" {
		s.in.malformed.add(s.r.in.number)
		return
	}
	if each != 0 && (count > total/each || count*each != total) || each == 0 && total != 0 {
		s.in.contradict(s.r.in.number, "!heap -stat has a size whose blocks do not make its total; the total counts")
	}
	if s.percent += percent; s.percent > 101 {
		s.in.contradict(s.r.in.number, "the shares of !heap -stat make more than 100 percent")
	}
	s.rows++
	if g := s.in.group(s.r, capture.Address(s.heap), each); g != nil {
		g.Usage, g.Key = capture.Usage{Count: count, Bytes: total}, ""
		if s.by == "" || s.by == "TOTSIZE" {
			g.Percent = percent
		}
	}
}

// percentage reads "(94.45)".
func percentage(b []byte) (float64, bool) {
	if len(b) < 3 || b[0] != '(' || b[len(b)-1] != ')' {
		return 0, false
	}
	whole, part, _ := bytes.Cut(b[1:len(b)-1], []byte("."))
	v, ok := decimal(whole)
	hundredths, isNumber := decimal(part)
	if !ok || !isNumber && len(part) > 0 {
		return 0, false
	}
	f := float64(hundredths)
	for range part {
		f /= 10
	}
	return float64(v) + f, true
}

func (s *stat) close() {
	if s.rows == 0 && (s.in != nil || s.heap != 0) {
		s.start()
		s.in.addNote(s.r, capture.TopicInfo, fmt.Sprintf("!heap -stat lists no busy block of heap %#x", s.heap))
	}
	if s.in != nil && s.most > 0 && s.rows >= s.most {
		s.in.addNote(s.r, capture.TopicMethod,
			fmt.Sprintf("!heap -stat lists the %d largest sizes of a heap: its other blocks are in no group", s.most))
	}
}
