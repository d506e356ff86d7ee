package livesnapshot

import (
	"fmt"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
)

// warn says what was not read, why, and what the snapshot has cost.
func (s *session) warn(c *capture.Capture, from *source) {
	cost := s.cost()
	add := func(code capture.Code, count int64, format string, args ...any) {
		c.Warnings = append(c.Warnings, capture.Warning{Code: code, Count: count, Message: fmt.Sprintf(format, args...)})
	}
	if cost.LimitHit && s.pause.wasCut() {
		c.Snapshots[0].LowerBound = true
		add(capture.Truncated, 1,
			"Raise --pause-limit: the process went on after %s, before all of its heaps were read.",
			quantity.ShortDuration(s.pause.limit))
	}
	if cost.Vanished > 0 {
		add(capture.Unsupported, cost.Vanished, "%s of memory vanished or changed while the snapshot was taken.",
			quantity.Plural(cost.Vanished, "region"))
	}
	if cost.Unread > 0 {
		add(capture.Unsupported, cost.Unread, "Windows did not let %s of memory be read.",
			quantity.Plural(cost.Unread, "region"))
	}
	if from.threadsErr != nil {
		add(capture.Unsupported, 1, "The threads could not be listed: %v.", from.threadsErr)
	}
	if from.broken > 0 {
		add(capture.Unsupported, int64(from.broken),
			"The loader's list of modules breaks off: modules were found by their images.")
	}
	c.Memory.Notes = append(c.Memory.Notes, capture.Note{Topic: capture.TopicMethod, Text: cost.String()})
}
