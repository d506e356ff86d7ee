package allocations

import (
	"strings"
	"testing"
)

// FuzzTable opens and reads tables of any bytes. Run it with -fuzzminimizetime 5x, which gives some thousand executions
// a second: otherwise minimizing inputs of kilobytes takes all the time.
func FuzzTable(f *testing.F) {
	for _, rows := range [][]Row{nil, extremes(0), extremes(0)[4:]} {
		b, _ := tableOf(f, spoolOf(f, rows), trace{}.meta())
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		rows, err := readAll(b)
		if code(err) != "" && !strings.Contains(codes, code(err)) {
			t.Errorf("%d rows, %v", len(rows), err)
		}
	})
}

// codes are the error codes of files that are damaged or are no tables.
const codes = CodeForeign + CodeVersion + CodeDamaged

// FuzzUnpack decodes values of any bytes.
func FuzzUnpack(f *testing.F) {
	f.Add([]byte{128, 1, 4, 3, 2, 4, 2, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0}, uint16(3), uint8(2))
	f.Add([]byte{3, 0x88, 0xc6, 0xfa, 4, 1}, uint16(10), uint8(3))
	f.Fuzz(func(_ *testing.T, b []byte, n uint16, width uint8) {
		unpackDelta(make([]int64, n), b)
		unpackHybrid(make([]uint32, n), b, int(width))
		_, _ = readFooter(b)
		_, _, _ = nextPage(b)
	})
}
