package etl

import "slices"

// Losses count what is missing from a file, or was not understood.
type Losses struct {
	EventsLost     int64 // the session's own count: events it could not log
	BuffersLost    int64 // the session's own count: buffers it could not write
	FlaggedEvents  int64 // buffers that say that events were lost
	FlaggedBuffers int64 // buffers that say that a buffer was lost before them
	MissingBuffers int64 // sequence numbers that no buffer has, between those of buffers that are there; native files only
	Overwritten    int64 // buffers that a circular file has written over
	Truncated      bool  // the file ends inside a buffer, or before as many as its header counts
	CutBuffers     int64 // buffers that the header counts behind the end of the file
	Unfinished     bool  // the session was not stopped, or the file was copied before
	SkippedBytes   int64 // between buffers
	BadBuffers     int64 // buffers that could not be read to their end
	BadBytes       int64 // bytes of bad buffers from which no event was read
	FirstDamage    int64 // offset of the first skipped bytes or bad buffer; -1 for none
	// Disordered counts events that came later than a buffer's worth behind their time. They are delivered at the time
	// of the event before them.
	Disordered int64
}

// inside reports whether events are missing between others, and not only before or behind all that are there.
func (l *Losses) inside() bool {
	return l.EventsLost|l.BuffersLost|l.FlaggedEvents|l.FlaggedBuffers|l.MissingBuffers|l.SkippedBytes|l.BadBuffers != 0
}

// cut reports whether what was recorded at the end is missing.
func (l *Losses) cut() bool { return l.Truncated || l.Unfinished }

// skip counts n bytes at the given offset that belong to no buffer.
func (l *Losses) skip(at, n int64) {
	if n > 0 {
		l.SkippedBytes += n
		l.damage(at)
	}
}

// bad counts a buffer of which n bytes are not in the events.
func (l *Losses) bad(at, n int64) {
	l.BadBuffers++
	l.BadBytes += n
	l.damage(at)
}

func (l *Losses) damage(at int64) {
	if l.FirstDamage < 0 || at < l.FirstDamage {
		l.FirstDamage = at
	}
}

// sequences remember which buffers of each logger are there.
type sequences map[uint16][]int64

func (s sequences) note(logger uint16, number int64) { s[logger] = append(s[logger], number) }

// close counts the sequence numbers that are missing. A merged trace keeps the numbers of its sessions but not which
// session a buffer was of, so there the numbers say nothing. A circular session overwrites its lowest numbers first.
func (s sequences) close(f *File) {
	merged := f.LogFile.Mode&ModeRelog != 0
	for _, numbers := range s {
		slices.Sort(numbers)
		low, high := numbers[0], numbers[len(numbers)-1]
		if f.LogFile.Mode&ModeCircular != 0 && low > 1 {
			f.Losses.Overwritten += low - 1
		}
		if distinct := int64(len(slices.Compact(numbers))); !merged && low >= 0 && high-low < maxBuffers {
			f.Losses.MissingBuffers += high - low + 1 - distinct
		}
	}
}
