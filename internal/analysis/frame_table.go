package analysis

import (
	"sync"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis/blame"
)

// A frameTable makes the stacks of a report. While it is built, it keeps more facts about frames than the report holds.
type frameTable struct {
	*Stacks
	marking  sync.Mutex         // while several goroutines number marks
	classes  []blame.Class      // by row
	modules  []int32            // by row: place of the frame's module in the report, −1 for none
	variants map[variant]uint32 // rows of frames that are in several layers
	places   *modulePlaces
	// repeats says that equal frames may have several rows: those of several captures, or of text.
	repeats  bool
	twice    bool // modules of a capture have one place in the report: an offset in it may have several rows
	builders int
}

// A variant is a frame in a layer other than the one that it first appeared in.
type variant struct {
	row  uint32
	mark uint16
}

// undecidedMark is the mark of a row that no stack has been placed with yet.
const undecidedMark = 1<<16 - 1

func newFrameTable(r *Report) *frameTable {
	return &frameTable{Stacks: r.Stacks, variants: map[variant]uint32{}, places: placesOf(r.Modules)}
}

// numbersOf are the numbers of marks, for any goroutine.
func (t *frameTable) numbersOf(s *scratch, marks []blame.Mark) []uint16 {
	const atOnce = 1 << 12
	if len(s.numbers) < len(marks) {
		s.numbers = make([]uint16, max(atOnce, len(marks)))
	}
	numbers := s.numbers[:0:len(marks)]
	s.numbers = s.numbers[len(marks):]
	last, number := blame.Mark{}, uint16(0)
	for _, mark := range marks {
		if mark != last {
			last, number = mark, t.markOf(mark)
		}
		numbers = append(numbers, number)
	}
	return numbers
}

// markOf is the number of a mark, for any goroutine.
func (t *frameTable) markOf(m blame.Mark) uint16 {
	t.marking.Lock()
	defer t.marking.Unlock()
	return t.mark(m)
}

// addPlaced adds a stack whose rows are there, each in its layer.
func (t *frameTable) addPlaced(f *frames, stack []capture.FrameID, marks []uint16) StackRef {
	if len(marks) == 0 {
		return 0
	}
	at := 0
	for _, id := range stack {
		c := f.calls[id]
		for row := c.first; row < c.first+c.count; row++ {
			t.list = append(t.list, t.inLayer(row, marks[at]))
			at++
		}
	}
	t.ends = append(t.ends, uint32(len(t.list)))
	return StackRef(len(t.ends))
}

// inLayer is the row of a frame in a layer. Equal ones are one row.
func (t *frameTable) inLayer(row uint32, mark uint16) uint32 {
	switch t.rows[row].mark {
	case mark:
		return row
	case undecidedMark:
		t.rows[row].mark = mark
		return row
	}
	key := variant{row, mark}
	other, ok := t.variants[key]
	if !ok {
		other = uint32(len(t.rows))
		r := t.rows[row]
		r.mark = mark
		t.rows, t.classes, t.modules = append(t.rows, r), append(t.classes, t.classes[row]), append(t.modules, t.modules[row])
		t.variants[key] = other
	}
	return other
}
