package umdh

import (
	"bytes"

	"heapdrift/ingest/capture"
)

// Sniff reports whether head, the first bytes of a file, looks like text that UMDH wrote: up to 64 KiB in any
// encoding that Read takes, with or without a header. A line or two of something else around it do not matter;
// pages and documents that quote UMDH are refused.
func Sniff(head []byte) bool {
	text, ok := sniffText(head)
	if !ok {
		return beginsAsLog(text)
	}
	var ours, weak, foreign int // lines only UMDH writes; that it may have written; others
	var banners, debugger int   // of ours, those that the library of symbols prints wherever it is used; lines of a debugger
	for len(text) > 0 {
		n, whole := lineEnd(text, 0, true)
		if whole == 0 {
			n, whole = len(text), len(text)
		}
		line := trimLine(text[:n])
		text = text[whole:]
		if trimmed := bytes.TrimLeft(line, " \t"); len(trimmed) > 0 {
			switch {
			case bytes.HasPrefix(trimmed, []byte("DBGHELP:")):
				if !isOurs(trimmed) {
					foreign++
					break
				}
				ours++
				banners++
			case isDebugger(trimmed):
				debugger++
				foreign++
			case isOurs(trimmed):
				ours++
			case line[0] == '\t' && !bytes.ContainsAny(line, "\"{}") || line[0] == '/' || // else source text that is indented
				isPDBPath(line) || isFrame(trimmed):
				weak++
			default:
				foreign++
			}
		}
	}
	if debugger > 0 && ours == banners {
		return false
	}
	return ours > 0 && foreign <= 8+ours+weak
}

// headerLines is within how many lines a log or difference of UMDH says what it is.
const headerLines = 64

// beginsAsLog reports whether a file with bytes that text has not begins as UMDH writes: then it is a damaged log,
// which the reader reads as far as it goes. A document that quotes UMDH has no such bytes.
func beginsAsLog(text []byte) bool {
	for range headerLines {
		n, whole := lineEnd(text, 0, true)
		if whole == 0 {
			return false
		}
		line := bytes.TrimLeft(trimLine(text[:n]), " \t")
		text = text[whole:]
		switch {
		case bytes.HasPrefix(line, []byte("// UMDH: version ")), bytes.Contains(line, []byte("DBGHELP: ")) && isOurs(line):
			return true
		case len(line) > 0 && !bytes.HasPrefix(line, []byte("//")):
			return false
		}
	}
	return false
}

// isDebugger reports whether a line is one that WinDbg prints where it tells of a block or is asked for it.
func isDebugger(text []byte) bool {
	for _, prefix := range []string{"_HEAP @ ", "_DPH_HEAP_ROOT @ ", "HEAP_ENTRY ", "in busy allocation (", "heap @ "} {
		if bytes.HasPrefix(text, []byte(prefix)) {
			return true
		}
	}
	return bytes.HasPrefix(text, []byte("address ")) && bytes.HasSuffix(text, []byte(" found in")) ||
		bytes.Contains(text, []byte("> !heap")) || bytes.HasPrefix(text, []byte("!heap "))
}

// sniffText gives the beginning of a file as text, unless it has bytes that text has not.
func sniffText(head []byte) (text []byte, ok bool) {
	d := newTextDecoder(bytes.NewReader(head))
	text = make([]byte, 0, len(head))
	for {
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
		n, err := d.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if err != nil {
			break
		}
	}
	text = bytes.Trim(text, "\x00") // padding
	const first = 64                // magic numbers and headers of files lie here
	control := 0
	for i, c := range text {
		if c < ' ' && bytes.IndexByte([]byte("\t\n\v\f\r\x1a\x1b"), c) < 0 {
			if control++; i < first {
				return nil, false
			}
		}
	}
	start := bytes.ToLower(text[:min(first, len(text))])
	for _, markup := range []string{"<!", "<?", "<html", "<head", "<body", "{\\rtf"} {
		if bytes.HasPrefix(bytes.TrimLeft(start, " \t\r\n\v\f"), []byte(markup)) {
			return nil, false
		}
	}
	return text, control*100 <= len(text) // one byte of a hundred may be damaged
}

// isOurs reports whether a line is one that nothing but UMDH writes.
func isOurs(text []byte) bool {
	switch text[0] {
	case '/':
		for _, comment := range []string{"// UMDH: version ", "//     Base Size Module",
			"// Each log entry has the following syntax:"} {
			if bytes.HasPrefix(text, []byte(comment)) {
				return true
			}
		}
		return len(unflatten(text)) > 1
	case '*':
		mark, _ := parseMarker(text)
		return mark != markNone
	case '+', '-':
		_, ok := parseCounter(text, &baseProof{}, 0)
		return ok || len(unflatten(text)) > 1
	case 'T':
		if _, ok := parseTotal(text, &baseProof{}, 0); ok {
			return true
		}
	}
	if hexDigit[text[0]] >= 0 {
		if _, ok := parseEntry(text); ok {
			return true
		}
		b, ok := (&draft{in: &lines{}}).parseBanner(text)
		return ok && isKnownKind(b) || len(unflatten(text)) > 1
	}
	return isBrokenSDK(text) && !bytes.ContainsAny(text, "\"<>{}")
}

// isKnownKind reports whether a banner's words are ones that dbghelp is known to say of symbols.
func isKnownKind(b banner) bool {
	switch b.symbols {
	case capture.SymbolsPrivate, capture.SymbolsPublic, capture.SymbolsExport, capture.SymbolsNone:
		return true
	}
	return false
}

// isFrame reports whether a line can be one of a stack.
func isFrame(text []byte) bool {
	s, _ := validText(text)
	_, _, ok := ParseFrame(s)
	return ok
}
