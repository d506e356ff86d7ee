package run

import "time"

// localTime is a wall clock of the traced machine, which names no zone; "" where the evidence has none.
func localTime(taken string) string {
	t, err := time.Parse("2006-01-02T15:04:05", taken)
	if err != nil {
		return taken
	}
	return t.Format("2 Jan 2006 15:04")
}
