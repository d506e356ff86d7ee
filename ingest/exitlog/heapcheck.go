package exitlog

import (
	"bytes"
	"cmp"
	"strconv"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
)

// A heapCheckParser reads the leaks that the heap checker of gperftools finds (HEAPCHECK=normal): blocks to which
// nothing points. The layout is that of heap-checker.cc and heap-profile-table.cc of gperftools, and of its page
// "Heap Leak Checking":
//
//	Leak check _main_ detected leaks of 34 bytes in 3 objects
//	The 2 largest leaks:
//	Using local file ./app.
//	Leak of 24 bytes in 2 objects allocated from:
//		@ 4005b4 Cache::Add
//		@ 4005c9 main
//		@ 7f1d8e5e3b97 __libc_start_main
//	Leak of 10 bytes in 1 objects allocated from:
//		@ 4006b4
//
//	If the preceding stack traces are not enough to find the leaks, try running THIS shell command:
//
// Without leaks it prints one line, "No leaks found for check "_main_"". It lists 20 leaks at most, and then says
// "Skipping leaks numbered 20..37".
type heapCheckParser struct {
	in    *lane
	out   *collector
	list  *list
	leak  checkedLeak
	since int64
}

type checkedLeak struct {
	open         bool
	count, bytes int64
	stack        []frame
}

func (p *heapCheckParser) line(text []byte, number int64) (mine, open bool) {
	if len(text) == 0 {
		p.take()
		return p.list != nil, p.list != nil
	}
	switch {
	case text[0] == '@':
		if !p.leak.open {
			return false, false
		}
		f, ok := p.out.frame(text, heapCheckFrame)
		if !ok {
			return false, true
		}
		if len(p.leak.stack) < mostFrames {
			p.leak.stack = append(p.leak.stack, f)
		}
		p.since = number
		return true, true
	case hasPrefix(text, "Leak of "):
		return p.begin(text, number)
	case hasPrefix(text, "Leak check ") && bytes.Contains(text, []byte(" detected leaks of ")):
		p.end()
		p.list, p.since = p.out.list(KindHeapCheck, p.in, capture.Process{}, number), number
		return true, true
	case hasPrefix(text, "No leaks found for check "):
		p.end()
		p.out.list(KindHeapCheck, p.in, capture.Process{}, number)
		return true, false
	case p.list == nil:
		return false, false
	case hasPrefix(text, "Skipping leaks numbered "):
		p.take()
		p.skip(text, number)
		return true, true
	case hasPrefix(text, "If the preceding "):
		p.take()
		p.list = nil
		return true, false
	}
	return false, true
}

// begin reads "Leak of 24 bytes in 2 objects allocated from:".
func (p *heapCheckParser) begin(text []byte, number int64) (mine, open bool) {
	l := checkedLeak{open: true}
	var rest []byte
	var ok bool
	if l.bytes, rest, ok = cutDecimal(text[len("Leak of "):]); !ok {
		return false, p.list != nil
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(" bytes in ")); !ok {
		return false, p.list != nil
	}
	if l.count, rest, ok = cutDecimal(rest); !ok || !hasPrefix(rest, " objects allocated from:") {
		return false, p.list != nil
	}
	p.take()
	if p.list == nil {
		p.list = p.out.list(KindHeapCheck, p.in, capture.Process{}, number)
	}
	l.stack = p.leak.stack[:0]
	p.leak, p.since = l, number
	return true, true
}

// take counts the leak that is under way in.
func (p *heapCheckParser) take() {
	if p.leak.open {
		p.out.add(p.list, p.leak.stack, capture.ReachNone, p.leak.count, p.leak.bytes)
	}
	p.leak.open = false
}

// skip says how many leaks "Skipping leaks numbered 20..37" leaves out.
func (p *heapCheckParser) skip(text []byte, number int64) {
	first, rest, ok := cutDecimal(text[len("Skipping leaks numbered "):])
	last, _, too := cutDecimal(bytes.TrimPrefix(rest, []byte("..")))
	if p.list == nil || !ok || !too || last < first {
		return
	}
	p.list.Snapshots[0].LowerBound = true
	p.list.warn(capture.Truncated, number, last-first+1, "The heap checker left out smaller leaks ("+
		quantity.Plural(last-first+1, "call stack")+"): set HEAP_CHECK_MAX_LEAKS="+strconv.FormatInt(last+1, 10)+".")
}

func (p *heapCheckParser) end() {
	p.take()
	if p.list != nil {
		p.list.broken = cmp.Or(p.list.broken, p.since)
	}
	p.list = nil
}

// heapCheckFrame reads a call: @ 4005b4 Cache::Add. Without a name it is an address.
func heapCheckFrame(text []byte) (f frame, ok bool) {
	word, rest := cutWord(text[1:])
	if f.address, ok = hexNumber(word); !ok {
		return f, false
	}
	if f.Function = validText(rest, longestFunction); f.Function == "??" {
		f.Function = ""
	}
	if f.Function != "" {
		f.address = 0 // of the process, and the name is known
	}
	return f, f.Function != "" || f.address != 0
}
