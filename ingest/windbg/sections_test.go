package windbg

import "testing"

// The list of unreachable blocks goes on until its last line came, also where that one says 0.
func TestEndOfUnreachableBlocks(t *testing.T) {
	for detected, want := range map[int64]bool{-1: true, 0: false, 1: false, 31000: false} {
		s := &leaks{detected: detected}
		for _, line := range []string{"-----------------------------------", "....", "Scanning VM ...", "Heap 00150000"} {
			if got := s.line([]byte(line)); got != want {
				t.Errorf("behind %d: %q is part of the list: %t", detected, line, got)
			}
		}
	}
}

// A title of !address -summary that came already, or one of the other generation, is another output. Both generations
// share that of the largest regions.
func TestTitlesOfUses(t *testing.T) {
	const newUses, newTypes, largest = "--- Usage Summary ---------------- RgnCount ----------- Total Size --------",
		"--- Type Summary (for busy) ------ RgnCount ----------- Total Size --------",
		"--- Largest Region by Usage ----------- Base Address -------- Region Size ----------"
	const oldUses, oldTypes = "-------------------- Usage SUMMARY --------------------------",
		"-------------------- Type SUMMARY --------------------------"
	for _, test := range []struct {
		name  string
		old   bool
		lines []string
		want  int // lines that are taken
	}{
		{"the newer one", false, []string{newUses, newTypes, largest}, 3},
		{"the newer one again", false, []string{newUses, newTypes, newUses}, 2},
		{"the largest regions again", false, []string{newUses, largest, largest}, 2},
		{"the older one behind it", false, []string{newUses, oldTypes}, 1},
		{"the older one", true, []string{oldUses, oldTypes}, 2},
		{"the older one again", true, []string{oldUses, oldTypes, oldTypes}, 2},
		{"the newer one behind it", true, []string{oldUses, newTypes}, 1},
		{"the largest regions behind it", true, []string{oldUses, largest}, 2},
	} {
		s := &uses{old: test.old}
		taken := 0
		for _, line := range test.lines {
			if !s.line([]byte(line)) {
				break
			}
			taken++
		}
		if taken != test.want {
			t.Errorf("%s: %d lines are taken, want %d", test.name, taken, test.want)
		}
	}
}
