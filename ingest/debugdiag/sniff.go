package debugdiag

import (
	"bytes"
	"context"
	"io"
)

// hooks are what DebugDiag 2.x puts into the markup of its pages and nothing else does. hookMatches of them are one.
var hooks = [][]byte{
	[]byte("data-debug-details="), []byte("data-debug-rule="), []byte("data-debug-dump="), []byte("data-debug-type="),
	[]byte("analysisSummarySection"), []byte("AnalysisSummarySection"), []byte("analysisDetailsSection"),
	[]byte("analysisDetailsGroup"), []byte("analysisRuleSummarySection"),
}

const hookMatches = 2

// Sniff reports whether head looks like a report of DebugDiag. head is up to the first 64 KiB of a file, a MIME
// document or a saved page. Pages that only write about DebugDiag are refused.
func Sniff(head []byte) bool {
	page, err := unwrap(&source{ctx: context.Background(), r: bytes.NewReader(head)})
	if err != nil {
		return false
	}
	text, _ := io.ReadAll(page) // what is cut off at the end of head is no matter
	text = bytes.TrimLeft(text, " \t\r\n\x00")
	if len(text) == 0 || text[0] != '<' {
		return false
	}
	matches := 0
	for _, hook := range hooks {
		if bytes.Contains(text, hook) {
			matches++
		}
	}
	return matches >= hookMatches || hasOldFacts(string(text))
}
