package debugdiag

import "strings"

// A tableKind is what the rows of a table are, by the header of the table.
type tableKind uint8

const (
	tableFacts tableKind = iota // label and value
	tableSummary
	tableRules
	tableStack
	tableThreads
	tableSegments
)

// tableHeaders tells the tables with a header by the words of their first columns.
var tableHeaders = []struct {
	columns []string
	kind    tableKind
}{
	{[]string{"description", "recommendation"}, tableSummary},
	{[]string{"rule name", "status"}, tableRules},
	{[]string{"function", "source", "destination"}, tableStack},
	{[]string{"function", "destination"}, tableStack},
	{[]string{"thread id", "system id"}, tableThreads},
	{[]string{"base address", "reserved"}, tableSegments},
}

// kindOf is the kind whose words begin the first columns of a header; tableFacts for every other row.
func kindOf(header *row) tableKind {
	for _, h := range tableHeaders {
		match := len(header.cells) >= len(h.columns)
		for i := 0; match && i < len(h.columns); i++ {
			match = strings.HasPrefix(strings.ToLower(header.cells[i].text), h.columns[i])
		}
		if match {
			return h.kind
		}
	}
	return tableFacts
}

// columns finds for each word the first column whose header begins with it; −1 where there is none.
func columns(header *row, words ...string) []int {
	found := make([]int, len(words))
	for i, word := range words {
		found[i] = -1
		for at := range header.cells {
			if strings.HasPrefix(strings.ToLower(header.cells[at].text), word) {
				found[i] = at
				break
			}
		}
	}
	return found
}

// label is a label as tables know it: in lower case, without what stands in parentheses behind it.
func label(text string) string {
	text, _, _ = strings.Cut(text, "(")
	return strings.ToLower(strings.Trim(text, " :\n"))
}
