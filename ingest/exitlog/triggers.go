package exitlog

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// leastTrigger is the length of the shortest trigger: the search looks at two bytes of so many.
const leastTrigger = 7

// beginWords are in a line of each list that is read. The search is as fast as the first leastTrigger bytes of all
// words are few and rare: "leaks found" of "no leaks found" begins as other words do.
var beginWords = []string{
	"Detected memory leaks!", "Dumping objects ->", " block at 0x", " block at $",
	"---------- Block ", "Visual Leak Detector detected ", "No memory leaks detected.",
	": LEAK ", "POSSIBLE LEAK ", "REACHABLE LEAK ", "Dr. Memory results for pid", "NO ERRORS FOUND:", "ERRORS FOUND:",
	"LeakSanitizer: detected memory leaks", "irect leak of ",
	"A memory block has been leaked.", "leaked memory. The small block leaks are",
	"leaked memory. The leaks ordered by size are", "leaked medium and large blocks are",
	"leaks:\n", "leaks:\r", "leaks:\x1b", "leaks (lost):", "leaks (jointly lost):", "leaks (indirectly lost):",
	"leaks (reachable):", "leaks (indirectly reachable):", "leaks found",
	"<valgrindoutput>", ": Allocation site: Function ",
	"n loss record ", "== LEAK SUMMARY:", "leaks are possible",
}

// leakWords are in lines that name a leak. Those that no list holds are counted.
var leakWords = []string{
	": LEAK ", "POSSIBLE LEAK ", "REACHABLE LEAK ", "irect leak of ", "A memory block has been leaked.", "---------- Block ",
}

// noteWords are in further lines that concern leaks or heaps, and that no list holds.
var noteWords = []string{
	"HANDLE LEAK: ", "VERIFIER STOP ", "Heap block at ", "ed to Rtl",
	"k problem(s) detected", ": Error: Memory leak", ": Error: Kernel resource leak", ": Error: GDI resource leak",
	": Warning: Memory not deallocated", ": Warning: Kernel resource leak", ": Warning: GDI resource leak",
	"HEAP CORRUPTION DETECTED: ",
	"detected leaks of ", "No leaks found for check ", " objects allocated from:",
}

// testWords are in lines that say which test runs.
var testWords = []string{
	"[ RUN      ]", "[       OK ]", "[  FAILED  ]", "[  SKIPPED ]",
	"== Command: ",
	"   Start ", " Test #", " Test  #", " Test   #", "Test command: ", "% tests passed",
	"TEST CASE:", "[doctest] ", "Entering test ", "Leaving test ",
	catchRule, "test cases: ", "All tests passed",
	"  Passed ", "  Failed ", "Standard Output Messages:", "Total tests: ",
}

// catchRule is the line that Catch2 prints above and below the name of a test.
const catchRule = "-------------------------------------------------------------------------------"

var (
	begins     = newTriggers(beginWords)
	leakLike   = newTriggers(leakWords)
	noteworthy = newTriggers(slices.Concat(leakWords, noteWords))
	known      = newTriggers(slices.Concat(beginWords, noteWords))
	triggers   = newTriggers(slices.Concat(beginWords, noteWords, testWords))
)

// A triggerSet finds the first of many words in a text, by the algorithm of Wu and Manber: of leastTrigger bytes the
// last two tell how far the search may go on.
type triggerSet struct {
	words [][]byte
	shift [1 << 16]uint8
	ends  map[uint16][]int // by the last two of its first leastTrigger bytes: words
}

func newTriggers(words []string) *triggerSet {
	t := &triggerSet{ends: map[uint16][]int{}}
	for i := range t.shift {
		t.shift[i] = leastTrigger - 1
	}
	for n, word := range words {
		b := []byte(word)
		t.words = append(t.words, b)
		for at := 0; at+1 < leastTrigger; at++ {
			pair := binary.LittleEndian.Uint16(b[at:])
			t.shift[pair] = min(t.shift[pair], uint8(leastTrigger-2-at))
		}
		pair := binary.LittleEndian.Uint16(b[leastTrigger-2:])
		t.ends[pair] = append(t.ends[pair], n)
	}
	return t
}

// find returns where the first word in b begins; −1 for none.
func (t *triggerSet) find(b []byte) int {
	for i := leastTrigger - 2; i+1 < len(b); {
		pair := binary.LittleEndian.Uint16(b[i:])
		n := int(t.shift[pair])
		if n == 0 {
			begin := b[i-(leastTrigger-2):]
			for _, k := range t.ends[pair] {
				if bytes.HasPrefix(begin, t.words[k]) {
					return i - (leastTrigger - 2)
				}
			}
			n = 1
		}
		i += n
	}
	return -1
}
