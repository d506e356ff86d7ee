package main

import (
	"path"
	"strings"
)

// An exception is a text that the tool misjudges.
type exception struct {
	file   string // a pattern of path.Match
	rule   rule
	words  string // a part of the text
	reason string
}

// exceptions is kept short: a text that can be said otherwise is said otherwise.
var exceptions = []exception{
	{"ingest/debugdiag/facts.go", ruleWord, "total outstanding handle count", "a label of DebugDiag's page, which the reader searches for"},
	{"ingest/debugdiag/topic.go", ruleWord, "outstanding allocation summary", "a heading of DebugDiag's page, which the reader searches for"},
	{"web/pages/ui/file_line.templ", ruleButton, "Remove", "the script adds the name of the file for those who do not see the line"},
}

// covers reports whether the exception is about this fault of the text.
func (e exception) covers(t text, f fault) bool {
	matched, _ := path.Match(e.file, t.file)
	return matched && e.rule == f.rule && strings.Contains(plain(t.words), e.words)
}
