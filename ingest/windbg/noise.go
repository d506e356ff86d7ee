package windbg

import "bytes"

// noises are how lines begin that the debugger prints between any others: about symbols, mostly, while a command looks
// for them.
var noises = [][]byte{
	[]byte("DBGHELP:"), []byte("SYMSRV:"), []byte("DBGENG:"), []byte("*** ERROR: Symbol file"),
	[]byte("*** ERROR: Module load"), []byte("*** WARNING:"), []byte("*** ERROR: "),
	[]byte("Unable to load image"), []byte("WARNING: Stack unwind"), []byte("WARNING: Minidump contains"),
	[]byte("WARNING: Unable to verify"), []byte("Reading symbols"), []byte("Loading symbols for"),
	[]byte("ReadVirtual:"), []byte("CLRDLL:"), []byte("SYMCACHE:"), []byte("NatVis script"),
	[]byte("Processing "), []byte("Please wait"),
}

// noSymbols are parts of lines that say why !heap prints nothing: it needs the types of ntdll.
var noSymbols = [][]byte{
	[]byte("Type referenced: ntdll!"), []byte("Type referenced: nt!"), []byte("not using the correct symbols"),
	[]byte("Unable to resolve ntdll!"), []byte("Unable to get address of ntdll!RtlpGlobal"),
	[]byte("Unable to get address of NTDLL!"), []byte("No type information found for"),
	[]byte("Unable to get address of ntdll!NtGlobalFlag"),
}

// isNoise reports whether a line belongs to no output, and notes what it says of symbols.
func (r *reader) isNoise(text []byte) bool {
	switch text[0] {
	case '*', 'U', 'N', 'H', 'T', 'E': // of boxes of stars, "Unable", "No type", "HEAPEXT:", "Type", "ERROR:"
		for _, sign := range noSymbols {
			if bytes.Contains(text, sign) {
				r.blind.add(r.in.number)
				return true
			}
		}
	}
	for _, noise := range noisesBy[text[0]] {
		if bytes.HasPrefix(text, noise) {
			return true
		}
	}
	return false
}

// noisesBy are the noises by their first byte.
var noisesBy = func() (t [256][][]byte) {
	for _, noise := range noises {
		t[noise[0]] = append(t[noise[0]], noise)
	}
	return t
}()

// isEllipsis reports whether a line says that somebody has left others out: "...", "[...]", "<snip>".
func isEllipsis(text []byte) bool {
	const longest = 40
	if len(text) > longest {
		return false
	}
	inner := bytes.Trim(text, "[](){}<>.: \t\u2026-*/")
	switch string(bytes.ToLower(inner)) {
	case "":
		return bytes.Contains(text, []byte("...")) || bytes.Contains(text, []byte("\u2026"))
	case "snip", "snipped", "snippet", "cut", "omitted", "truncated", "etc", "skipped", "more":
		return true
	}
	return false
}

// A question is a command that the log shows, and that output should follow.
type question struct {
	text     string
	line     int64
	answered bool
}

// ask notes a command whose output is read.
func (r *reader) ask(command []byte) {
	r.unanswered()
	r.question = question{}
	if isBareCommand(command) {
		r.question = question{text: plain(command), line: r.in.number}
	}
}

// unanswered says of a command that nothing it should print was found.
func (r *reader) unanswered() {
	if q := r.question; q.text != "" && !q.answered && !bytes.Contains([]byte(q.text), []byte("-?")) {
		r.silent = addFinding(r.silent, q.line, "the log shows the command "+q.text+" and no output of it that is read")
	}
	r.question = question{}
}
