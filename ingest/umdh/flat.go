package umdh

import "bytes"

// flatLine is the shortest line that is looked at for having been several. UMDH's own lines that may be longer
// hold no two of the words that begin a line.
const flatLine = 60

// unflatten takes a line apart that was several before a web page or an index turned line ends into blanks:
//
//	// Debug library initialized ... 7FF72A880000-7FF72BE26FFF DBGHELP: mongod - private symbols & lines D:\mongod.pdb …
//	// UMDH logs). + 2f0 ( 2f0 - 0) 1 allocs BackTraceA39 + 1 ( 1 - 0) BackTraceA39 allocations ntdll!a+C6 ntdll!b+1E …
//
// It returns nil for every other line.
func unflatten(line []byte) (pieces [][]byte) {
	if len(line) < flatLine || bytes.Count(line, []byte(" BackTrace")) < 2 && bytes.Count(line, []byte("DBGHELP: ")) < 2 {
		return nil
	}
	start, banner := 0, false
	cut := func(at int) {
		if piece := bytes.TrimRight(line[start:at], " "); len(piece) > 0 {
			pieces = append(pieces, piece)
		}
		start = at
	}
	for at := 0; at < len(line); {
		word, rest := line[at:], line[at:]
		if end := bytes.IndexByte(word, ' '); end >= 0 {
			word = word[:end]
		}
		switch {
		case string(word) == "//", beginsBanner(rest):
			banner = string(word) != "//"
			cut(at)
		case beginsCounter(rest), bytes.HasPrefix(rest, []byte("Total increase ==")),
			bytes.HasPrefix(rest, []byte("Total decrease ==")):
			banner = false
			cut(at)
		case banner && bytes.IndexByte(word, '\\') >= 0:
			banner = false
			cut(at - 1) // with the blank that marks the path of a banner
		case bytes.IndexByte(word, '!') > 0:
			cut(at)
		}
		if at += len(word); beginsRange(word) {
			at += len(" DBGHELP:") // a range and its banner are one
		}
		for at < len(line) && line[at] == ' ' {
			at++
		}
	}
	cut(len(line))
	return pieces
}

func beginsBanner(text []byte) bool {
	if _, n, ok := hexPrefix(text); ok && n < len(text) && text[n] == '-' {
		_, m, ok := hexPrefix(text[n+1:])
		return ok && bytes.HasPrefix(text[n+1+m:], []byte(" DBGHELP: "))
	}
	return bytes.HasPrefix(text, []byte("DBGHELP: "))
}

func beginsRange(word []byte) bool {
	_, n, ok := hexPrefix(word)
	return ok && n < len(word) && word[n] == '-'
}

func beginsCounter(text []byte) bool {
	if len(text) < 2 || text[0] != '+' && text[0] != '-' {
		return false
	}
	text = skipBlanks(text[1:])
	_, n, ok := hexPrefix(text)
	return ok && bytes.HasPrefix(skipBlanks(text[n:]), []byte("("))
}
