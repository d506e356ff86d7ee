package debugdiag

import (
	"strings"

	"heapdrift/ingest/capture"
)

var summaryTopics = map[topic]string{topicErrors: capture.TopicError, topicWarnings: capture.TopicWarning,
	topicInformation: capture.TopicInfo}

// maxGeneral bounds the conclusions that are of no dump.
const maxGeneral = 1 << 12

// summary takes rows of the analysis summary: a description and a recommendation each. One that names no dump is told
// of all.
func (r *report) summary(t *table) {
	name, ok := summaryTopics[r.topic()]
	if !ok {
		name = capture.TopicInfo
	}
	for i := range t.rows {
		row := &t.rows[i]
		text := strings.Join(strings.Fields(row.text(0)), " ")
		if kindOf(row) == tableSummary || text == "" {
			continue
		}
		n := capture.Note{Topic: name, Text: text, Advice: strings.Join(strings.Fields(row.text(1)), " ")}
		switch {
		case row.dump != "":
			d := r.draftOf(row.dump)
			d.memory.Notes, d.hasFacts = append(d.memory.Notes, n), true
		case len(r.general) < maxGeneral:
			r.general = append(r.general, n)
		default:
			r.cut++
		}
	}
}
