package exitlog

import (
	"bytes"
	"fmt"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
	"heapdrift/ingest/quantity"
)

// A topic is a sort of lines that concern leaks or heaps and that no list holds. They are counted and said.
type topic int

const (
	// ofHandles are handles that were not closed: of Dr. Memory ("HANDLE LEAK: KERNEL handle 0x94 and 2 similar
	// handle(s) were opened but not closed"), Application Verifier (stops 901 and 902), Intel Inspector and Valgrind.
	ofHandles topic = iota
	// ofDamage are what the heap of Windows and the debug CRT say of memory that was overwritten or freed twice. Reports
	// in public trackers have these sentences; none lists a leak:
	//
	//	HEAP[app.exe]: Heap block at 015C3DC0 modified at 015C3DD4 past requested size of c
	//	HEAP[app.exe]: Invalid address specified to RtlFreeHeap( 0AEF0000, 0AEFAFA8 )
	//	HEAP CORRUPTION DETECTED: after Normal block (#30302) at 0x3AE0CE68.
	ofDamage
	// ofStops are leaks that Application Verifier tells a debugger, without size and call stack (Microsoft's page "Leak
	// stop details").
	ofStops
	// ofCounts are leaks that a tool counts without naming them.
	ofCounts
	// ofUnread are lines with the words of a leak whose layout is none that is known.
	ofUnread
	topics
)

// A note counts what was met of a topic.
type note struct {
	first int64 // line
	count int64
}

type notes [topics]note

// add notes that a line concerns a topic, and how many things it tells.
func (n *notes) add(of topic, number, count int64) {
	if n[of].first == 0 {
		n[of].first = number
	}
	n[of].count = min(n[of].count+min(count, mostHeld), mostHeld)
}

// A saying is what users read of a topic: beside lists, and where there is no list.
type saying struct {
	code     capture.Code
	beside   func(n int64) string
	alone    func(n int64) string
	whatToDo string
}

var sayings = [topics]saying{
	ofHandles: {capture.Unsupported,
		func(n int64) string {
			return fmt.Sprintf("The log lists %s. They are not read: heapdrift reads memory only.", quantity.Plural(n, "handle leak"))
		},
		func(n int64) string {
			return fmt.Sprintf("the log lists %s and no leak of memory", quantity.Plural(n, "handle leak"))
		},
		"give a log that lists memory: heapdrift does not read handle leaks"},
	ofDamage: {capture.Unsupported,
		func(n int64) string {
			return fmt.Sprintf("%s of the log report a damaged heap and no leak. Enable page heap to find the write: gflags /p /enable app.exe /full.",
				quantity.Plural(n, "line"))
		},
		func(n int64) string {
			return fmt.Sprintf("%s of the log report a damaged heap, and none lists a leak", quantity.Plural(n, "line"))
		},
		"enable page heap to find the write: gflags /p /enable app.exe /full"},
	ofStops: {capture.Malformed,
		func(n int64) string {
			return fmt.Sprintf("Application Verifier reports %s without size and call stack. Give its log: appverif -export log -for app.exe -with to=log.xml.",
				quantity.Plural(n, "leak"))
		},
		func(n int64) string {
			return fmt.Sprintf("Application Verifier reports %s here without size and call stack", quantity.Plural(n, "leak"))
		},
		"give its log: appverif -export log -for app.exe -with to=log.xml"},
	ofCounts: {capture.Malformed,
		func(n int64) string {
			return fmt.Sprintf("Intel Inspector counts %s that the log does not name. Add the output of inspxe-cl -report problems.",
				quantity.Plural(n, "leak"))
		},
		func(n int64) string {
			return fmt.Sprintf("Intel Inspector counts %s and names none", quantity.Plural(n, "leak"))
		},
		"add the output of inspxe-cl -report problems to the log"},
	ofUnread: {capture.Malformed,
		func(n int64) string {
			return fmt.Sprintf("%s of the log have the words of a leak in an unknown layout. They are not read.", quantity.Plural(n, "line"))
		},
		func(n int64) string {
			return fmt.Sprintf("%s of the log have the words of a leak in an unknown layout", quantity.Plural(n, "line"))
		},
		"give the log as the tool wrote it"},
}

// warn adds what was met to the warnings of a list.
func (n *notes) warn(l *list) {
	for of := range topics {
		if met := n[of]; met.count > 0 {
			l.warn(sayings[of].code, met.first, met.count, sayings[of].beside(met.count))
		}
	}
}

// refusal says why a text holds no list.
func (o *collector) refusal() *evidence.Error {
	n := &o.notes
	for of := range topics {
		if met := n[of]; met.count > 0 {
			return &evidence.Error{Code: evidence.CodeUnknownFormat, Message: sayings[of].alone(met.count),
				Do: sayings[of].whatToDo, Line: met.first}
		}
	}
	return noList()
}

// line notes a line that is of no list.
func (n *notes) line(text []byte, number int64) {
	if noteworthy.find(text) < 0 {
		return
	}
	switch {
	case verifierStop(n, text, number):
	case isDamage(text):
		n.add(ofDamage, number, 1)
	case leakLike.find(text) >= 0:
		n.add(ofUnread, number, 1)
	}
}

// isDamage reports whether a line says that a heap is damaged.
func isDamage(text []byte) bool {
	const invalid = "invalid address specified to rtl"
	if at := bytes.IndexByte(text, ']'); hasPrefix(text, "HEAP[") && at > 0 { // Windows prints the name by itself
		text = bytes.TrimLeft(text[at+1:], ": ")
	}
	text = bytes.TrimPrefix(text, []byte("HEAP: "))
	return hasPrefix(text, "HEAP CORRUPTION DETECTED: ") ||
		hasPrefix(text, "Heap block at ") && bytes.Contains(text, []byte(" modified at ")) ||
		len(text) >= len(invalid) && bytes.EqualFold(text[:len(invalid)], []byte(invalid))
}

// verifierStop reads "VERIFIER STOP 00000900: pid 0x4E4C: A heap allocation was leaked."
func verifierStop(n *notes, text []byte, number int64) bool {
	rest, ok := bytes.CutPrefix(text, []byte("VERIFIER STOP "))
	if !ok {
		return false
	}
	code, _, _ := bytes.Cut(rest, []byte(":"))
	stop, _ := hexNumber(bytes.TrimSpace(code))
	switch stop {
	case 0x900, 0x903, 0x904, 0x906: // heap allocation, virtual reservation, BSTR, COM allocation
		n.add(ofStops, number, 1)
	case 0x901, 0x902: // handle, key of the registry
		n.add(ofHandles, number, 1)
	}
	return true
}
