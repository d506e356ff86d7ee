package umdh_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/umdh"
	"heapdrift/ingest/umdh/umdhtest"
)

// slowly is a log with a blank at the end of every line: the careful reading gives the same, and the fast reading
// declines.
func slowly(log []byte) []byte {
	log = bytes.ReplaceAll(log, []byte("\r\n"), []byte(" \r\n"))
	return bytes.ReplaceAll(bytes.ReplaceAll(log, []byte("\n"), []byte(" \n")), []byte("\r \n"), []byte("\r\n"))
}

// The fast reading of entries and stacks gives what the careful one gives.
func TestFastAndCareful(t *testing.T) {
	for _, bits := range []int{32, 64} {
		p := umdhtest.Invent(uint64(bits)+1, umdhtest.ProcessSize{Bits: bits, Stacks: 300, Blocks: 5000, Heaps: 3})
		var log bytes.Buffer
		if err := p.WriteSnapshot(&log, p.Snapshot(1)); err != nil {
			t.Fatal(err)
		}
		fast, careful := render(read(t, log.Bytes(), umdh.BaseAuto)[0]),
			render(read(t, slowly(log.Bytes()), umdh.BaseAuto)[0])
		if fast != careful {
			t.Errorf("%d bits: fast\n%.2000s\ncareful\n%.2000s", bits, fast, careful)
		}
	}
}

// Addresses of every length are read after those of every other: the digits that neighbours share are never taken over
// by one that is shorter or longer.
func TestAddressesOfOtherLengths(t *testing.T) {
	const digits, other = "123456789ABCDEF0", "FEDCBA9876543210"
	var log, want strings.Builder
	log.WriteString("*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -\n")
	for before := 1; before <= len(digits); before++ {
		for after := 1; after <= len(digits); after++ {
			for _, address := range []string{digits[:before], other[:after], digits[:after], digits[:after-1] + "0"} {
				fmt.Fprintf(&log, "1 bytes + 2 at %s by BackTraceA\n", address)
				fmt.Fprintln(&want, address)
			}
		}
	}
	log.WriteString("*- - - - - - - - - - End of data for heap @ 10000 - - - - - - - - - -\n")
	var got strings.Builder
	for block := range read(t, []byte(log.String()), umdh.BaseAuto)[0].Blocks.All() {
		fmt.Fprintf(&got, "%X\n", block.Address)
	}
	if got.String() != want.String() {
		t.Errorf("got %d lines\n%.2000s", strings.Count(got.String(), "\n"), got.String())
	}
}

// An entry with one character changed, missing or doubled is read as it is read with care.
func TestFastAndCarefulOfOneWrongCharacter(t *testing.T) {
	const entry = "30 bytes + 3A at 206EDDA8BA0 by BackTraceEDD4EEA6\r\n"
	log := []byte("*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -\r\n")
	for at := range len(entry) - 2 {
		for _, c := range []string{"", entry[at:at+1] + entry[at:at+1], " ", "0", "7", "G", "x", "~"} {
			log = append(log, entry[:at]+c+entry[at+1:]...)
		}
	}
	log = append(log, strings.Repeat(entry, 4)+
		"*- - - - - - - - - - End of data for heap @ 10000 - - - - - - - - - -\r\n"...)
	fast, careful := render(read(t, log, umdh.BaseAuto)[0]), render(read(t, slowly(log), umdh.BaseAuto)[0])
	if fast != careful {
		t.Errorf("fast\n%.3000s\ncareful\n%.3000s", fast, careful)
	}
}

func FuzzFastAndCareful(f *testing.F) {
	room := strings.Repeat("30 bytes + 30 at 206EDDA8BA0 by BackTraceEDD4EEA6\r\n", 4)
	for _, lines := range []string{
		"1 bytes + 2 at 206EDDA8BA0 by BackTraceA\n\t7FF654801059\n\t1\n\n123456789 bytes + 123 at 206EDDA8BA0 by BackTrace0A\n",
		"12345 bytes + 1 at 3F0880 by BackTracea\r\n1G bytes + 2 at 3F0880 by BackTraceA\n1 bytes + G2 at 3F0880 by BackTraceA\n1 bytes + 2 at 3F0G80 by BackTraceA\n",
		"1 bytes + 2 at 123456789ABCDEF0 by BackTrace123456789ABCDEF0\n\t123456789ABCDEF0\n\t123456789ABCDEF01\n1 bytes + 2 at \xb0000 by BackTraceA\n",
		"1 bytes + 2 at 206EDDAFFFF by BackTrace12345678\n1 bytes + 2 at 206EDDB0000 by BackTrace12345678\n1 bytes + 2 at 206EDDB000 by BackTrace12345678\n1 bytes + 2 at 206EDDB0000F by BackTrace12345678\n",
		"FFFFFFFF bytes + FFFFFFFF at 1 by BackTrace0\n\t1\n100000000 bytes + 100000000 at 1 by BackTrace1\n\t1\nAlias\n\t2\n",
	} {
		f.Add([]byte(lines))
	}
	f.Fuzz(func(t *testing.T, lines []byte) {
		crs := bytes.Count(lines, []byte("\r"))
		if bytes.IndexByte(lines, 0) >= 0 || bytes.Contains(lines, []byte("\uFEFF")) ||
			crs != bytes.Count(lines, []byte("\r\n")) || bytes.HasSuffix(lines, []byte("\r")) {
			return // may pass for UTF-16, or blanks at the ends of lines are lines themselves
		}
		log := []byte("*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -\n" +
			string(lines) + "\n" + room +
			"*- - - - - - - - - - End of data for heap @ 10000 - - - - - - - - - -\n")
		fast, careful := read(t, log, umdh.BaseAuto), read(t, slowly(log), umdh.BaseAuto)
		if len(fast) != len(careful) {
			t.Fatalf("%d captures and %d", len(fast), len(careful))
		}
		for i, c := range fast {
			if got, want := render(c), render(careful[i]); got != want && c.Kind == capture.KindUMDHSnapshot {
				t.Errorf("fast\n%s\ncareful\n%s", got, want)
			}
		}
	})
}

// Numbers at the limits of their fields, lines that end in other ways, and stacks of which one line is written
// differently are read as they are read with care.
func TestFastAndCarefulAtTheLimits(t *testing.T) {
	const entry = "30 bytes + 3A at 206EDDA8BA0 by BackTraceEDD4EEA6\r\n"
	for name, lines := range map[string]string{
		"overhead of 8 digits":   "1 bytes + 12345678 at 10010 by BackTraceA\n",
		"overhead of 9 digits":   "1 bytes + 123456789 at 10010 by BackTraceA\n",
		"overhead of 16 digits":  "1 bytes + 0000000000000012 at 10010 by BackTraceA\n",
		"no overhead":            "1 bytes +  at 10010 by BackTraceA\n",
		"request of 8 digits":    "12345678 bytes + 2 at 10010 by BackTraceA\n",
		"request of 9 digits":    "123456789 bytes + 2 at 10010 by BackTraceA\n",
		"no request":             " bytes + 2 at 10010 by BackTraceA\n",
		"no address":             "1 bytes + 2 at  by BackTraceA\n",
		"no id":                  "1 bytes + 2 at 10010 by BackTrace\r\n",
		"id of 8 digits, LF":     "1 bytes + 2 at 10010 by BackTrace12345678\n",
		"id of 8 digits, CR LF":  "1 bytes + 2 at 10010 by BackTrace12345678\r\n",
		"id of 9 digits":         "1 bytes + 2 at 10010 by BackTrace123456789\r\n",
		"id of 7 and a mark":     "1 bytes + 2 at 10010 by BackTrace1234567-\r\n1G bytes + 2 at 10010 by BackTraceA\n",
		"id of 7 and a blank":    "1 bytes + 2 at 10010 by BackTrace1234567 \r\n1G bytes + 2 at 10010 by BackTraceA\n",
		"id of 7 and two lines":  "1 bytes + 2 at 10010 by BackTrace1234567\n\r\n1G bytes + 2 at 10010 by BackTraceA\n",
		"id of 8 and one more":   "1 bytes + 2 at 10010 by BackTrace12345678G\n\t1\n",
		"id of 8 and a comma":    "1 bytes + 2 at 10010 by BackTrace12345678,\n\t1\n",
		"address of 12, then 13": "1 bytes + 2 at 123456789ABC by BackTraceA\n1 bytes + 2 at 123456780ABCD by BackTraceA\n1 bytes + 2 at 123456789ABCD by BackTraceA\n1 bytes + 2 at 123456780ABCD by BackTraceA\n",
		"address of 17":          "1 bytes + 2 at 00000000000010010 by BackTraceA\n1 bytes + 2 at 100000000000010010 by BackTraceA\n",
		"address of 4, then 5":   "1 bytes + 2 at 1234 by BackTraceA\n1 bytes + 2 at 12345 by BackTraceA\n1 bytes + 2 at 1235 by BackTraceA\n1 bytes + 2 at 11235 by BackTraceA\n",
		"frame of 8, 9 and 16":   entry + "\t12345678\n\t123456780\n\t123456789\n\t123456789ABCDEF0\n",
		"frame of 17":            entry + "\t123456789ABCDEF01\n\t1\n",
		"no frame":               entry + "\t\n\t1\n",
		"frame with a blank":     entry + "\t1\n\t2 \n\t3\n\t4\n" + entry,
		"frame in lower case":    entry + "\t1\n\tab\n\t3\n\t4\n" + entry,
		"second frame with name": entry + "\t1\n\tapp!main+0x10\n\t3\n" + entry,
		"frames before an entry": "\t1\n\t2\n" + entry + "\t3\n",
		"stack after a bad line": entry + "\t1\n\tG\n\t3\n" + entry,
	} {
		log := []byte("*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -\n" + lines +
			strings.Repeat(entry, 4) + "*- - - - - - - - - - End of data for heap @ 10000 - - - - - - - - - -\n")
		fast, careful := render(read(t, log, umdh.BaseAuto)[0]), render(read(t, slowly(log), umdh.BaseAuto)[0])
		if fast != careful {
			t.Errorf("%s: fast\n%s\ncareful\n%s", name, fast, careful)
		}
	}
}
