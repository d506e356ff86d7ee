package main

import (
	"regexp"
	"strings"
)

var (
	listItem    = regexp.MustCompile(`^(\s*)([-*+]|\d+[.)])(\s+)`)
	codeSpan    = regexp.MustCompile("(`+)[^`]*(`+)")
	htmlComment = regexp.MustCompile(`(?s)<!--.*?-->`)
	link        = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	emphasis    = regexp.MustCompile(`\*\*|__|\*\b|\b\*`)
)

// readMarkdown finds the texts of a document: headings, paragraphs, items of lists and cells of tables. Code, the
// addresses of links and comments are none; a span of code counts as one word.
func readMarkdown(name string, content []byte) ([]text, error) {
	d := &document{name: name}
	source := htmlComment.ReplaceAllStringFunc(string(content), func(c string) string {
		return strings.Repeat("\n", strings.Count(c, "\n"))
	})
	for i, line := range strings.Split(source, "\n") {
		d.read(i+1, line)
	}
	d.flush()
	return d.texts, nil
}

// document collects the texts of one file, line by line.
type document struct {
	name   string
	texts  []text
	run    []string // the lines of the paragraph
	line   int      // where it begins
	fenced bool
	empty  bool // the line before was
	margin int  // where the text of the item begins that the paragraph belongs to
}

func (d *document) flush() {
	d.add(d.line, prose, strings.Join(d.run, " "))
	d.run = nil
}

func (d *document) add(line int, r role, words string) {
	words = codeSpan.ReplaceAllString(words, "…")
	words = link.ReplaceAllString(words, "$1")
	words = strings.TrimSpace(emphasis.ReplaceAllString(words, ""))
	if strings.Trim(words, " …") != "" {
		d.texts = append(d.texts, text{d.name, line, r, words})
	}
}

func (d *document) read(number int, line string) {
	bare := strings.TrimSpace(line)
	indent := len(line) - len(strings.TrimLeft(line, " "))
	wasEmpty := d.empty
	d.empty = bare == ""
	switch {
	case strings.HasPrefix(bare, "```"):
		d.flush()
		d.fenced = !d.fenced
	case d.fenced:
	case bare == "":
		d.flush()
	case len(d.run) == 0 && (wasEmpty || indent > 0) && indent >= d.margin+4: // a block of code
		d.empty = wasEmpty
	case strings.HasPrefix(line, "#"):
		d.flush()
		d.margin = 0
		d.add(number, heading, strings.TrimLeft(line, "# "))
	case strings.HasPrefix(bare, "|"):
		d.flush()
		if strings.Trim(bare, "|-: ") != "" {
			for cell := range strings.SplitSeq(strings.Trim(bare, "|"), "|") {
				d.add(number, prose, cell)
			}
		}
	default:
		if m := listItem.FindString(line); m != "" {
			d.flush()
			d.margin, bare = len(m), strings.TrimSpace(line[len(m):])
		} else if len(d.run) == 0 && indent < d.margin {
			d.margin = 0
		}
		if len(d.run) == 0 {
			d.line = number
		}
		d.run = append(d.run, strings.TrimLeft(bare, "> "))
	}
}
