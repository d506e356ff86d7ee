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
		p := umdhtest.Invent(uint64(bits)+1, umdhtest.Size{Bits: bits, Stacks: 300, Blocks: 5000, Heaps: 3})
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
