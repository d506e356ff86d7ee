package minidump

import (
	"bytes"
	"strings"
	"unicode/utf16"
)

// names reads the names that the entries of one stream refer to. Equal RVAs are one string, and all together have a
// limit, as a made-up list may refer to one large name from each of its entries.
type names struct {
	window
	problems *problems
	known    map[int64]string // nil where none is kept
	budget   int64            // bytes
}

func (d *Dump) names(p *problems) *names {
	return &names{window: window{src: d.src}, problems: p, known: map[int64]string{}, budget: maxNames}
}

// passingNames are names that are not kept. They take no memory, but time: names that do not overlap are no longer than
// the file.
func (d *Dump) passingNames(p *problems) *names {
	return &names{window: window{src: d.src}, problems: p, budget: max(maxNames, d.src.size)}
}

// at is the MINIDUMP_STRING at an offset: its length in bytes, u32, and so much UTF-16. 0 is no name. What is no UTF-16
// is replaced.
func (n *names) at(offset, entry int64) string {
	if offset == 0 {
		return ""
	}
	if s, ok := n.known[offset]; ok {
		return s
	}
	head, err := n.bytes(offset, 4)
	if err != nil {
		n.problems.failed(offset, err)
		return ""
	}
	if len(head) < 4 {
		n.problems.add(CodeBadName, entry, offset, 1, "a name lies outside the file")
		return ""
	}
	length := int64(le.Uint32(head))
	if length > maxName {
		n.problems.add(CodeBadName, entry, offset, 1, "a name of %d bytes is longer than Windows allows", length)
		return ""
	}
	if !n.afford(length, entry, offset) {
		return ""
	}
	text, err := n.bytes(offset+4, int(length))
	if err != nil {
		n.problems.failed(offset, err)
		return ""
	}
	if int64(len(text)) < length {
		n.problems.add(CodeBadName, entry, offset, 1, "a name is cut short by the end of the file")
	}
	s := wide(text)
	if n.known != nil {
		n.known[offset] = s
	}
	return s
}

// afford takes bytes from what names may take together.
func (n *names) afford(length, entry, offset int64) bool {
	const overhead = 48 // of the string and its place in the map
	if n.budget -= length + overhead; n.budget < 0 {
		n.problems.add(CodeTooMany, entry, offset, 1,
			"the names of the stream are too long together; further ones are left out")
		return false
	}
	return true
}

// wide is UTF-16 as a string, up to its first zero.
func wide(b []byte) string {
	units := make([]uint16, 0, len(b)/2)
	for ; len(b) >= 2; b = b[2:] {
		u := le.Uint16(b)
		if u == 0 {
			break
		}
		units = append(units, u)
	}
	return string(utf16.Decode(units))
}

// narrow is bytes as a string, up to the first zero. What is no UTF-8 is replaced: the code page is that of the
// machine, and unknown.
func narrow(b []byte) string {
	if end := bytes.IndexByte(b, 0); end >= 0 {
		b = b[:end]
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}
