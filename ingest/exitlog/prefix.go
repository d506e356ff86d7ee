package exitlog

import "bytes"

// mostPrefixes bounds how many things are taken off the front of a line: CI systems nest few of them.
const mostPrefixes = 8

// A strippedLine is a line without what CI systems put around it, and the prefix that tells its process.
type strippedLine struct {
	text []byte
	lane []byte // nil where the line has no such prefix
	// numbered is the text with the last number before it, such as "12: ", which may be part of the text; nil for none.
	numbered     []byte
	numberedLane []byte // lane of numbered
}

// A prefixStripper takes off lines what CI systems and shells put before them. Its room is used for each line.
type prefixStripper struct{ room []byte }

// strip takes off the front of a line times, colours, names of jobs and processes, in any order, and blanks at both
// ends. Of the prefixes that may tell a process, the last one does.
func (p *prefixStripper) strip(line []byte) (out strippedLine) {
	line = trimEnd(line)
	if bytes.IndexByte(line, '\r') >= 0 { // what a terminal shows: GitLab's sections, bars of progress
		line = line[bytes.LastIndexByte(line, '\r')+1:]
	}
	if bytes.IndexByte(line, 0x1B) >= 0 {
		p.room = appendPlain(p.room[:0], line)
		line = trimEnd(p.room)
	}
	for range mostPrefixes {
		line = trimFront(line)
		if len(line) == 0 {
			break
		}
		if line[0] == 0xEF {
			line = bytes.TrimPrefix(line, []byte("\xEF\xBB\xBF"))
			if len(line) == 0 {
				break
			}
		}
		n, lane := 0, []byte(nil)
		switch c := line[0]; {
		case c >= '0' && c <= '9':
			if n, lane = cutNumber(line); lane != nil {
				out.numbered, out.numberedLane = line, out.lane
			}
		case c == '[':
			n, lane = cutBrackets(line)
		case c == '~':
			n, lane = cutTilde(line)
		case c == '#' && bytes.HasPrefix(line, []byte("##[")):
			n = bytes.IndexByte(line, ']') + 1
		case c == '>' && len(line) > 1 && line[1] == ' ': // quoted in a mail or an issue
			n = 2
		case isNameByte(c):
			n, lane = cutService(line)
		}
		if n == 0 {
			break
		}
		if lane != nil && (line[0] != '~' || out.lane == nil) { // what a tool adds tells less than what ctest does
			out.lane = lane
		}
		line = line[n:]
	}
	out.text = line
	return out
}

// trimEnd cuts off blanks, line ends and zeros at the end of a line. bytes.TrimRight makes a set of them for each line.
func trimEnd(line []byte) []byte {
	for n := len(line); n > 0; n-- {
		switch line[n-1] {
		case ' ', '\t', '\r', '\n', 0:
		default:
			return line[:n]
		}
	}
	return nil
}

// trimFront cuts off blanks and zeros at the front of a line.
func trimFront(line []byte) []byte {
	for n, c := range line {
		if c != ' ' && c != '\t' && c != 0 {
			return line[n:]
		}
	}
	return nil
}

// appendPlain copies a line without the sequences that colour it: those of ECMA-48, and those of Buildkite and OSC
// that end with a bell.
func appendPlain(to, line []byte) []byte {
	for i := 0; i < len(line); i++ {
		if line[i] != 0x1B {
			to = append(to, line[i])
			continue
		}
		if i++; i == len(line) {
			break
		}
		switch line[i] {
		case '[':
			for i++; i < len(line) && (line[i] < 0x40 || line[i] > 0x7E); i++ {
			}
		case ']', '_':
			for i++; i < len(line) && line[i] != 0x07; i++ {
				if line[i] == 0x1B { // ESC \ ends it, too
					i++
					break
				}
			}
		}
	}
	return to
}

// cutNumber is the length of what begins with a digit and is no part of a line: a date, a time, the number that ctest
// -V prints before the output of a test ("12: "), that of a project of MSBuild ("2>"), the count of DebugView.
func cutNumber(line []byte) (n int, lane []byte) {
	if n = cutTime(line); n > 0 {
		return n, nil
	}
	digits := countDigits(line)
	switch rest := line[digits:]; {
	case digits <= 6 && len(rest) > 0 && rest[0] == ':' && (len(rest) == 1 || rest[1] == ' '):
		return digits + 1, line[:digits+1]
	case digits <= 3 && len(rest) > 0 && rest[0] == '>':
		return digits + 1, line[:digits+1]
	case digits == 8 && len(rest) > 1 && rest[0] == '\t': // DebugView: count, seconds, [process]
		seconds := bytes.IndexByte(rest[1:], '\t')
		if seconds > 0 && countDigits(rest[1:]) > 0 {
			return digits + 1 + seconds + 1, nil
		}
	}
	return 0, nil
}

// cutTime is the length of a date with a time, or of a time, at the front of a line: 2026-01-02T03:04:05.6Z, 03:04:05.
func cutTime(line []byte) int {
	const beforeYear, beforeHour = 4, 2 // most numbers are no times: their separators are looked at first
	if len(line) <= beforeYear || line[beforeYear] != '-' && line[beforeYear] != '/' && line[beforeHour] != ':' {
		return 0
	}
	n := 0
	if matches(line, "dddd-dd-dd") || matches(line, "dddd/dd/dd") {
		if n = 10; len(line) == n || line[n] != 'T' && line[n] != ' ' {
			return 0
		}
		n++
	}
	if !matches(line[n:], "dd:dd:dd") {
		return 0
	}
	n += 8
	if n < len(line) && (line[n] == '.' || line[n] == ',') {
		n += 1 + countDigits(line[n+1:])
	}
	switch {
	case n < len(line) && line[n] == 'Z':
		n++
		if stream := cutStream(line[n:]); stream > 0 {
			return n + stream
		}
	case n < len(line) && (matches(line[n:], "+dd:dd") || matches(line[n:], "-dd:dd")):
		n += 6
	}
	if n < len(line) && line[n] != ' ' && line[n] != '\t' && line[n] != ']' && line[n] != '|' {
		return 0
	}
	return n
}

// cutStream is the length of what GitLab prints behind a time: the number and kind of the stream, " 00O", and a plus
// where the line goes on the line before.
func cutStream(rest []byte) int {
	const stream = 4
	if !matches(rest, " ddO") && !matches(rest, " ddE") {
		return 0
	}
	switch {
	case len(rest) == stream || rest[stream] == ' ':
		return stream
	case rest[stream] == '+':
		return stream + 1
	}
	return 0
}

// matches reports whether a line begins like a pattern, in which d is a digit.
func matches(line []byte, pattern string) bool {
	if len(line) < len(pattern) {
		return false
	}
	for i := range len(pattern) {
		same := line[i] == pattern[i]
		if pattern[i] == 'd' {
			same = line[i] >= '0' && line[i] <= '9'
		}
		if !same {
			return false
		}
	}
	return true
}

func countDigits(b []byte) int {
	n := 0
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		n++
	}
	return n
}

// cutBrackets is the length of something in brackets that is no part of a line: a time, a step, a job, a process.
// Those of test frameworks are part of it.
func cutBrackets(line []byte) (n int, lane []byte) {
	end := bytes.IndexByte(line, ']')
	const longest = 80
	if end < 2 || end > longest || end+1 < len(line) && line[end+1] == '[' {
		return 0, nil
	}
	in := line[1:end]
	if in[0] == ' ' && (bytes.Contains(in, []byte("RUN")) || bytes.Contains(in, []byte("OK")) ||
		bytes.Contains(in, []byte("FAILED")) || bytes.Contains(in, []byte("SKIPPED"))) || in[0] == '-' || in[0] == '=' ||
		bytes.Equal(in, []byte("doctest")) {
		return 0, nil
	}
	n = end + 1
	time := cutTime(in) > 0
	if time { // TeamCity: [03:04:05]W: [Step 1/2]
		for n < len(line) && (line[n] == ':' || line[n] >= 'A' && line[n] <= 'Z' || line[n] >= 'a' && line[n] <= 'z') {
			if line[n] == ':' {
				return n + 1, nil
			}
			n++
		}
		if rest := bytes.TrimLeft(line[end+1:], " "); len(rest) > 1 && rest[0] == ':' {
			return len(line) - len(rest) + 1, nil
		}
		return end + 1, nil
	}
	if n < len(line) && line[n] != ' ' && line[n] != '\t' {
		return 0, nil
	}
	if isLogLevel(in) {
		return n, nil
	}
	if n == len(line) && countDigits(in) < len(in) { // heob's [malloc]: there is nothing that it would be a prefix of
		return 0, nil
	}
	return n, line[:n]
}

// isLogLevel reports whether a word in brackets is how grave a line is, which tells no process.
func isLogLevel(word []byte) bool {
	for _, level := range []string{"info", "warn", "warning", "error", "debug", "trace", "notice", "fatal"} {
		if bytes.EqualFold(bytes.TrimSpace(word), []byte(level)) {
			return true
		}
	}
	return false
}

// cutTilde is the length of the prefix of Dr. Memory: ~~1234~~, the id of the process, or ~~Dr.M~~, which tells none.
func cutTilde(line []byte) (n int, lane []byte) {
	rest, ok := bytes.CutPrefix(line, []byte("~~"))
	end := bytes.Index(rest, []byte("~~"))
	const longest = 12
	if !ok || end < 1 || end > longest {
		return 0, nil
	}
	if countDigits(rest) < end {
		return end + 4, nil
	}
	return end + 4, line[:end+4]
}

// cutService is the length of the name of a container before a bar, as docker compose prints it: "worker_1  | ".
func cutService(line []byte) (n int, lane []byte) {
	const longest = 64
	end := 0
	for end < len(line) && end < longest && isNameByte(line[end]) {
		end++
	}
	bar := end
	for bar < len(line) && line[bar] == ' ' {
		bar++
	}
	if bar == end || bar >= len(line) || line[bar] != '|' || bar+1 < len(line) && line[bar+1] != ' ' {
		return 0, nil
	}
	return bar + 1, line[:end]
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
}
