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
}

func openStat(r *reader, text []byte) section {
	heap, ok := hex(bytes.TrimSpace(text[len("heap @ "):]))
	if !ok {
		return nil
	}
	r.end()
	return &stat{r: r, heap: heap}
}

// start begins the output: the same heap grouped in another way is another command.
func (s *stat) start() {
	if s.in == nil {
		s.r.section = nil // it is this one, and not over
		s.in = s.r.begin(fmt.Sprintf("!heap -stat %x %s", s.heap, s.by), "!heap -stat")
		s.r.section = s
	}
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
	w := split(text)
	if w.n < 3 || hexValue[text[0]] < 0 {
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
	if s.in != nil && s.most > 0 && s.rows >= s.most {
		s.in.say(s.r, capture.TopicMethod, fmt.Sprintf("!heap -stat lists the %d largest sizes of a heap: its other blocks are in no group", s.most))
	}
}
