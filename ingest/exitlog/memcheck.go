package exitlog

import (
	"bytes"
	"slices"

	"heapdrift/ingest/capture"
)

// losses are the records of one process that memcheck, the leak finder of Valgrind, lists in its text or XML:
//
//	1,072 (40 direct, 1,032 indirect) bytes in 1 blocks are definitely lost in loss record 785 of 795
//
// The indirect bytes are those of blocks that only this one points to. Where such blocks have records of their own,
// with --show-leak-kinds=all, they are not counted twice.
type losses struct {
	out      *collector
	list     *list
	aside    []asideLoss
	indirect bool // a record of indirectly lost blocks was read
	read     [capture.ReachCount]capture.Usage
}

// An asideLoss is the indirect bytes of a record.
type asideLoss struct {
	stack []frame
	bytes int64
}

// mostAside bounds the records whose indirect bytes wait for the end of the list.
const mostAside = 1 << 14

// A loss is what the first line of a record says.
type loss struct {
	blocks, bytes int64 // bytes with those of blocks that only these point to
	indirect      int64
}

// add counts a record in.
func (l *losses) add(stack []frame, reach capture.Reach, r loss) {
	direct := max(0, r.bytes-r.indirect)
	l.out.add(l.list, stack, reach, r.blocks, direct)
	u := &l.read[reach]
	u.Count, u.Bytes = u.Count+r.blocks, u.Bytes+direct
	l.indirect = l.indirect || reach == capture.ReachLost
	if r.indirect > 0 {
		if len(l.aside) < mostAside {
			l.aside = append(l.aside, asideLoss{slices.Clone(stack), r.indirect})
		} else {
			l.list.warn(capture.Unsupported, 0, 1, "Valgrind lists too many records: indirect bytes of the later ones are not read.")
		}
	}
}

// finish counts in what records hold indirectly, unless it has records of its own.
func (l *losses) finish() {
	if !l.indirect {
		for _, a := range l.aside {
			l.out.add(l.list, a.stack, capture.ReachLost, 0, a.bytes)
			l.read[capture.ReachLost].Bytes += a.bytes
		}
	}
	l.aside = nil
}

// sum compares what a summary says with what was read. Blocks that only the summary has are counted without a stack.
func (l *losses) sum(reach capture.Reach, count, held, number int64) {
	read := l.read[reach]
	if held <= read.Bytes && count <= read.Count || reach == capture.ReachLost && held <= read.Bytes {
		return
	}
	l.out.add(l.list, nil, reach, max(0, count-read.Count), max(0, held-read.Bytes))
	l.read[reach] = capture.Usage{Count: max(count, read.Count), Bytes: max(held, read.Bytes)}
	l.list.warn(capture.Unsupported, number, max(0, count-read.Count),
		"Valgrind gives blocks only as a sum. Run it with --leak-check=full --show-leak-kinds=all to list them.")
}

// lossKinds are the words for what points to blocks.
var lossKinds = []struct {
	words string
	reach capture.Reach
}{
	{"definitely lost", capture.ReachNone}, {"indirectly lost", capture.ReachLost},
	{"possibly lost", capture.ReachPossible}, {"still reachable", capture.ReachHeld},
}

// cutLoss reads "1,072 (40 direct, 1,032 indirect) bytes in 1 blocks", and what is behind it.
func cutLoss(text []byte) (r loss, rest []byte, ok bool) {
	if r.bytes, rest, ok = cutGrouped(text); !ok {
		return r, nil, false
	}
	if parts, isSplit := bytes.CutPrefix(rest, []byte(" (")); isSplit {
		var direct int64
		if direct, rest, ok = cutGrouped(parts); !ok || !hasPrefix(rest, " direct, ") {
			return r, nil, false
		}
		if r.indirect, rest, ok = cutGrouped(rest[len(" direct, "):]); !ok || !hasPrefix(rest, " indirect)") {
			return r, nil, false
		}
		r.bytes, rest = direct+r.indirect, rest[len(" indirect)"):]
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(" bytes in ")); !ok {
		return r, nil, false
	}
	if r.blocks, rest, ok = cutGrouped(rest); !ok || !hasPrefix(rest, " blocks") {
		return r, nil, false
	}
	return r, rest[len(" blocks"):], true
}

// cutGrouped reads a number whose digits stand in groups, "1,032". A change in a second run, "1,032 (+24)", is passed
// over.
func cutGrouped(text []byte) (v int64, rest []byte, ok bool) {
	const widest = 18
	digits, n := 0, 0
	for ; n < len(text) && digits <= widest; n++ {
		switch c := text[n]; {
		case c >= '0' && c <= '9':
			v, digits = v*10+int64(c-'0'), digits+1
		case c != ',' || digits == 0:
			return v, cutChange(text[n:]), true && digits > 0
		}
	}
	return v, text[n:], digits > 0 && digits <= widest
}

// cutChange cuts " (+24)" off, which is how much more it is than when the program was asked before.
func cutChange(text []byte) []byte {
	if !hasPrefix(text, " (+") && !hasPrefix(text, " (-") {
		return text
	}
	if end := bytes.IndexByte(text, ')'); end > 0 {
		return text[end+1:]
	}
	return text
}
