package windbg

import (
	"bytes"
	"slices"
)

// A paste removes what pasting has added around a line: marks of quotation and comment, bullets, times, line numbers,
// fences and emphasis of markdown and wikis. It learns other marks: the text before something that only the debugger
// writes is removed from all lines that begin with it.
type paste struct {
	prefix []byte // learned; nil for none
	number int64  // of the line before, where the prefix is a number
	lines  []byte // scratch of table rows
	quoted bool   // the line had a mark of quotation, which new debuggers print as a prompt, too
}

// maxPrefix bounds a prefix that is learned, in bytes.
const maxPrefix = 80

// strip returns a line without what pasting has added.
func (p *paste) strip(text []byte) []byte {
	p.quoted = false
	text = bytes.Trim(text, blanks)
	if len(p.prefix) == 0 && isAddressRow(text) {
		return text
	}
	text = p.layers(text)
	if rest, ok := p.cutLearned(text); ok {
		text = p.layers(rest)
	}
	if at := anchorIn(text); at > 0 {
		if at <= maxPrefix {
			p.learn(text[:at])
		}
		text = text[at:]
	}
	return text
}

// isAddressRow reports whether a line begins with an address and a blank, as most rows do: nobody has put anything
// before it.
func isAddressRow(text []byte) bool {
	const least, most = 8, 17
	at := 0
	for at < len(text) && at < most && (hexValue[text[at]] >= 0 || text[at] == '`') {
		at++
	}
	return at >= least && at < len(text) && text[at] == ' ' && bytes.IndexByte(text, '>') < 0
}

// layers takes off marks, one after the other as long as there are any.
func (p *paste) layers(text []byte) []byte {
	const most = 8
	text = bytes.Trim(text, blanks)
	for range most {
		rest := p.layer(text)
		if len(rest) == len(text) {
			break
		}
		text = bytes.Trim(rest, blanks)
	}
	return text
}

// blanks are what a line has around it: blanks, padding, and the end of a file of DOS.
const blanks = " \t\x00\x1a\r\f\v"

// A decoration is one kind of what pasting puts before a line: cut takes it off where it is there.
type decoration struct {
	begins string // the bytes of which it has one at its beginning
	cut    func(p *paste, text []byte) (rest []byte, ok bool)
}

// decorations are tried in this order, the marks after them. Each has at least two bytes to look at.
var decorations = []decoration{
	{">", (*paste).cutQuote},
	{"|", (*paste).cutCells},
	{"#", cutHeading},
	{"`", cutFence},
	{"*", cutBold},
	{"*+-;%", cutBullet},
	{"-", cutDashes},
	{"[0123456789", cutStamp},
	{"rR", cutRemark},
}

// marks are decorations that a blank or the text follows at once.
var marks = []string{"///", "//", "/*", "*/", "<!--", "-->", "```", "~~~", "{{{", "}}}", "{code}", "{noformat}", "[code]",
	"[/code]", "[quote]", "[/quote]", "[pre]", "[/pre]", "[b]", "[/b]"}

// decorationsBy are the decorations and the marks by their first byte.
var decorationsBy = func() (t [256][]decoration) {
	all := slices.Clone(decorations)
	for _, mark := range marks {
		all = append(all, decoration{mark[:1], func(_ *paste, text []byte) ([]byte, bool) {
			return bytes.CutPrefix(text, []byte(mark))
		}})
	}
	for _, d := range all {
		for _, c := range []byte(d.begins) {
			t[c] = append(t[c], d)
		}
	}
	return t
}()

// ends are those of marks that stand behind a line, too.
var ends = [][]byte{[]byte("*/"), []byte("-->"), []byte("```"), []byte("}}}"), []byte("{code}"), []byte("{noformat}"),
	[]byte("[/code]"), []byte("[/quote]"), []byte("[/pre]"), []byte("[/b]"), []byte(" *")}

// layer takes one mark off a line.
func (p *paste) layer(text []byte) []byte {
	if len(text) == 1 && bytes.IndexByte([]byte(">|#*"), text[0]) >= 0 {
		return nil
	}
	text = cutEnd(text)
	if len(text) < 2 {
		return text
	}
	for _, d := range decorationsBy[text[0]] {
		if rest, ok := d.cut(p, text); ok {
			return rest
		}
	}
	return text
}

// cutEnd takes the end of a mark off a line.
func cutEnd(text []byte) []byte {
	for _, end := range ends {
		if len(text) > len(end) && text[len(text)-1] == end[len(end)-1] && bytes.HasSuffix(text, end) {
			return bytes.TrimRight(text[:len(text)-len(end)], blanks)
		}
	}
	return text
}

// cutQuote takes off a mark of quotation.
func (p *paste) cutQuote(text []byte) ([]byte, bool) {
	p.quoted = true
	return text[1:], true
}

func cutHeading(_ *paste, text []byte) ([]byte, bool) { return bytes.TrimLeft(text, "#"), true }
func cutBullet(_ *paste, text []byte) ([]byte, bool)  { return text[2:], isBlank(text[1]) }

// cutDashes takes off two dashes, which begin a comment, and not a rule of three or more.
func cutDashes(_ *paste, text []byte) ([]byte, bool) {
	return text[2:], text[1] == '-' && (len(text) == 2 || text[2] != '-')
}

// cutRemark takes off "rem", which begins a comment of a batch file.
func cutRemark(_ *paste, text []byte) ([]byte, bool) {
	const remark = "rem "
	if len(text) <= len(remark) || !bytes.EqualFold(text[:len(remark)], []byte(remark)) {
		return text, false
	}
	return text[len(remark):], true
}

// cutBold takes off the stars of emphasis around a line.
func cutBold(_ *paste, text []byte) ([]byte, bool) {
	if len(text) <= 4 || text[1] != '*' || text[2] == '*' || !bytes.HasSuffix(text, []byte("**")) {
		return text, false
	}
	return text[2 : len(text)-2], true
}

// cutStamp takes off the time or the number of a line.
func cutStamp(_ *paste, text []byte) ([]byte, bool) {
	n := max(timeLength(text), numberLength(text))
	return text[n:], n > 0
}

// cutCells takes the bars off a row of a table. Protections have bars, too.
func (p *paste) cutCells(text []byte) ([]byte, bool) {
	text = text[1:]
	isRow := text[len(text)-1] == '|'
	text = bytes.TrimRight(text, "| \t")
	if !isRow && bytes.Count(text, []byte("|")) < 3 {
		return text, true
	}
	p.lines = append(p.lines[:0], text...)
	for i, c := range p.lines {
		if c == '|' {
			p.lines[i] = ' '
		}
	}
	return p.lines, true
}

// cutFence takes backticks off a line that begins with one, but for those in numbers, which the debugger prints itself.
func cutFence(_ *paste, text []byte) ([]byte, bool) {
	if text[1] == '`' {
		return text, false
	}
	n := bytes.Count(text, []byte("`"))
	if n <= 2 && (n == 1 || bytes.IndexByte(text, '!') <= 1 || text[len(text)-1] == '`') {
		return bytes.TrimSuffix(text[1:], []byte("`")), true
	}
	out := bytes.Clone(text[1:])
	for i, c := range out {
		inNumber := i > 0 && i+1 < len(out) && hexValue[out[i-1]] >= 0 && hexValue[out[i+1]] >= 0
		if c == '`' && !inNumber {
			out[i] = ' '
		}
	}
	return out, true
}
