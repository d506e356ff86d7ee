package exitlog

import (
	"bytes"
	"iter"

	"golang.org/x/net/html"
)

// An xmlTag is a tag in a line of XML, with the text behind it. Tools that write XML into logs begin a line with each
// element; a log may put anything before it.
type xmlTag struct {
	name []byte
	text []byte // up to the next tag or the end of the line, with its entities
	end  bool   // of an element
}

// xmlTags are the tags of a line. Comments, declarations and what is no tag are passed over.
func xmlTags(line []byte) iter.Seq[xmlTag] {
	return func(yield func(xmlTag) bool) {
		for {
			open := bytes.IndexByte(line, '<')
			if open < 0 {
				return
			}
			line = line[open+1:]
			shut := bytes.IndexByte(line, '>')
			if shut < 0 {
				return
			}
			t := xmlTag{name: line[:shut]}
			line = line[shut+1:]
			next := bytes.IndexByte(line, '<')
			if next < 0 {
				next = len(line)
			}
			t.text = bytes.TrimSpace(line[:next])
			if t.end = hasPrefix(t.name, "/"); t.end {
				t.name = t.name[1:]
			}
			if !yield(t) {
				return
			}
		}
	}
}

// plain is the text of a tag without entities.
func (t *xmlTag) plain(most int) string {
	if bytes.IndexByte(t.text, '&') < 0 {
		return validText(t.text, most)
	}
	return validText([]byte(html.UnescapeString(string(t.text))), most)
}
