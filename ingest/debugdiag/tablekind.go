package debugdiag

import "strings"

// tableKinds are what the header of a table says that its rows are.
type tableKinds uint8

const (
	tableFacts tableKinds = iota // label and value
	tableSummary
	tableRules
	tableStack
	tableThreads
	tableSegments
)

// tableHeaders tells the tables with a header by the words of their first columns.
var tableHeaders = []struct {
	columns []string
	kind    tableKinds
}{
	{[]string{"description", "recommendation"}, tableSummary},
	{[]string{"rule name", "status"}, tableRules},
	{[]string{"function", "source", "destination"}, tableStack},
	{[]string{"function", "destination"}, tableStack},
	{[]string{"thread id", "system id"}, tableThreads},
	{[]string{"base address", "reserved"}, tableSegments},
}

func kindOf(header *row) tableKinds {
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

// columns finds the columns whose headers begin with the given words; −1 where there is none.
func columns(header *row, words ...string) []int {
	places := make([]int, len(words))
	for i, word := range words {
		places[i] = -1
		for at := range header.cells {
			if strings.HasPrefix(strings.ToLower(header.cells[at].text), word) {
				places[i] = at
				break
			}
		}
	}
	return places
}

// label is a label as tables know it: in lower case, without what stands in parentheses behind it.
func label(text string) string {
	text, _, _ = strings.Cut(text, "(")
	return strings.ToLower(strings.Trim(text, " :\n"))
}
