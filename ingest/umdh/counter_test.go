package umdh

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"heapdrift/ingest/capture"
)

// Lines of a difference are read as umdh writes them and as people pass them on: with blanks for tabs, without words,
// with a sign that touches the number. Every part that lacks makes it none.
func TestParseCounter(t *testing.T) {
	for line, want := range map[string]string{
		"+ 2a98c90 ( 2a98c90 -     0)  15cf4 allocs\tBackTrace74050": "+2a98c90 2a98c90 0 15cf4 bytes of 74050",
		"+   15cf4 (   15cf4 -     0)\tBackTrace74050\tallocations":  "+15cf4 15cf4 0 0 of 74050",
		"-10 (5 - 15) 3 allocs BackTraceA":                           "-10 5 15 3 bytes of a",
		"- 10 (5 - 15) 3 BackTraceA":                                 "-10 5 15 3 bytes of a",
		"+ 10 (15 - 5) BackTraceA":                                   "+10 15 5 0 of a",
		"+ 1,000 ( 1,500 - 500) 3 allocs BackTraceA":                 "+1000 1500 500 3 bytes of a",
		"+10(15-5)BackTraceA":                                        "+10 15 5 0 of a",
		"":                                                           "none",
		" + 10 (15 - 5) BackTraceA":                                  "none",
		"* 10 (15 - 5) BackTraceA":                                   "none",
		"+":                                                          "none",
		"+ x (15 - 5) BackTraceA":                                    "none",
		"+ 10":                                                       "none",
		"+ 10 15 - 5) BackTraceA":                                    "none",
		"+ 10 (x - 5) BackTraceA":                                    "none",
		"+ 10 (15":                                                   "none",
		"+ 10 (15 + 5) BackTraceA":                                   "none",
		"+ 10 (15 - x) BackTraceA":                                   "none",
		"+ 10 (15 - 5":                                               "none",
		"+ 10 (15 - 5] BackTraceA":                                   "none",
		"+ 10 (15 - 5) x BackTraceA":                                 "none",
		"+ 10 (15 - 5)":                                              "none",
		"+ 10 (15 - 5) 3 allocs":                                     "none",
		"+ 10 (15 - 5) BackTrace":                                    "none",
		"+ 10 (15 - 5) BackTraceX":                                   "none",
		"+ 10 (15 - 5) BackTraceA allocations more":                  "none",
		"+ 10 (15 - 5) 3 allocs BackTraceA allocations":              "none",
		"+ 12345678901234567 (15 - 5) BackTraceA":                    "none",
	} {
		var proof baseProof
		c, ok := parseCounter([]byte(line), &proof, 7)
		got := "none"
		if ok {
			got = fmt.Sprintf("%s%x %x %x %x", map[bool]string{true: "-", false: "+"}[c.negative], uint64(c.change), uint64(c.now),
				uint64(c.then), uint64(c.allocs))
			if c.isBytes {
				got += " bytes"
			}
			got += fmt.Sprintf(" of %x", c.trace)
		}
		if got != want {
			t.Errorf("%q is %s, want %s", line, got, want)
		}
	}
}

// What numbers are padded to, their letters and their commas show the base.
func TestProofOfCounters(t *testing.T) {
	for line, want := range map[string]baseProof{
		"+ 10 (    15 -      5) BackTraceA":  {},
		"+ 2a (    15 -      5) BackTraceA":  {letters: tally{n: 1, line: 7}},
		"+ 1,0 (    15 -      5) BackTraceA": {commas: tally{n: 1, line: 7}},
	} {
		var proof baseProof
		if _, ok := parseCounter([]byte(line), &proof, 7); !ok {
			t.Errorf("%q is none", line)
		}
		proof.numbers, proof.width5, proof.width6 = tally{}, tally{}, tally{}
		if proof != want {
			t.Errorf("%q proves %+v, want %+v", line, proof, want)
		}
	}
	for field, want := range map[string][2]int64{"    15": {1, 0}, "   15": {0, 1}, "  15": {0, 0}, "123456": {0, 0},
		"     15": {0, 0}, " 12345": {1, 0}} {
		var proof baseProof
		if _, _, ok := proof.padded([]byte(field), 7); !ok || proof.width6.n != want[0] || proof.width5.n != want[1] {
			t.Errorf("%q: %+v", field, proof)
		}
	}
}

// The last line has one number or three, whose sum holds in a base; parts may have signs.
func TestParseTotal(t *testing.T) {
	for line, want := range map[string]string{
		"Total increase ==    620 requested +  40340 overhead =  40960": "620 40340 40960",
		"Total decrease == 620 requested + 40340 overhead = 40960":      "620 40340 40960",
		"Total increase == 5320":                              "5320",
		"Total increase == a requested + 6 overhead = 10":     "a 6 10 hexadecimal",
		"Total increase == 7 requested + 5 overhead = 12":     "7 5 12 decimal",
		"Total increase == 1 requested + 2 overhead = 3":      "1 2 3",
		"Total increase == 5 requested + 2 overhead = 3":      "5 2 3",
		"Total increase == -5 requested + 2 overhead = -3":    "-5 2 -3",
		"Total increase == +5 requested + 2 overhead = +3":    "5 2 3 neither",
		"Total increase == 5 requested + 2 overhead = 4":      "5 2 4 neither",
		"Total increase ==":                                   "none",
		"Total increase == x":                                 "none",
		"Total growth == 5":                                   "none",
		"total increase == 5":                                 "none",
		"Total increase 5":                                    "none",
		"Total increase == 5 more":                            "none",
		"Total increase == 5 requested":                       "none",
		"Total increase == 5 requested + x overhead = 5":      "none",
		"Total increase == 5 requested + 2 overhead":          "none",
		"Total increase == 5 requested + 2 overhead = x":      "none",
		"Total increase == 5 requested 2 overhead = 7":        "none",
		"Total increase == 5 requested + 2 = 7":               "none",
		"Total increase == 5 requested + 2 overhead = 7 more": "none",
	} {
		var proof baseProof
		total, ok := parseTotal([]byte(line), &proof, 7)
		got := "none"
		if ok {
			var parts []string
			for i := range total.parts {
				if sign := map[bool]string{true: "-"}[total.negative[i]]; i == 0 || total.hasParts {
					parts = append(parts, fmt.Sprintf("%s%x", sign, uint64(total.parts[i])))
				}
			}
			got = strings.Join(parts, " ")
			switch dec, hex := total.adds(BaseDecimal), total.adds(BaseHex); {
			case !total.hasParts:
			case dec && !hex && proof.sumsDec.n == 1:
				got += " decimal"
			case hex && !dec && proof.sumsHex.n == 1:
				got += " hexadecimal"
			case !dec && !hex:
				got += " neither"
			}
			if total.line != 7 {
				t.Errorf("%q is at line %d", line, total.line)
			}
		}
		if got != want {
			t.Errorf("%q is %s, want %s", line, got, want)
		}
	}
}

// What dbghelp says of a module's symbols has a name and a kind, and a range of addresses or none.
func TestParseBanner(t *testing.T) {
	for line, want := range map[string]string{
		"DBGHELP: ntdll - public symbols":                                     "0+0 ntdll " + string(capture.SymbolsPublic),
		"7FF72A880000-7FF72BE26FFF DBGHELP: mongod - private symbols & lines": "7ff72a880000+15a7000 mongod " + string(capture.SymbolsPrivate),
		"10-10 DBGHELP: a - export symbols":                                   "10+1 a " + string(capture.SymbolsExport),
		"DBGHELP: a - no symbols loaded":                                      "0+0 a " + string(capture.SymbolsNone),
		"DBGHELP: a - deferred":                                               "0+0 a deferred",
		"DBGHELP: a - \xff":                                                   "0+0 a \uFFFD",
		"DBGHELP: a b - public symbols":                                       "0+0 a b " + string(capture.SymbolsPublic),
		"DBGHELP: a - ":                                                       "none", "DBGHELP:  - public symbols": "none", "DBGHELP: a": "none", "DBGHELP a - public symbols": "none",
		"10-F DBGHELP: a - public symbols": "none", "10 DBGHELP: a - public symbols": "none", "10- DBGHELP: a - public symbols": "none",
		"-20 DBGHELP: a - public symbols": "none", "10+20 DBGHELP: a - public symbols": "none", "10-20x DBGHELP: a - public symbols": "none",
	} {
		d := newDraft(&lines{})
		b, ok := d.parseBanner([]byte(line))
		got := "none"
		if ok {
			got = fmt.Sprintf("%x+%x %s %s", b.base, b.size, b.name, b.symbols)
		}
		if got != want {
			t.Errorf("%q is %q, want %q", line, got, want)
		}
	}
	for line, want := range map[string]bool{
		`        D:\build\mongod.pdb`: true, " /a/b": true, "  a.PDB": true, " .pdb": false, `D:\build\a.pdb`: false, "": false,
		"  // a/b": false, "  app!a/b": false, "  app!a.pdb": true, "  a.pd": false,
	} {
		if got := isPDBPath([]byte(line)); got != want {
			t.Errorf("%q is a path: %t", line, got)
		}
	}
	const guid = "4A252F11C9FF495DBA896EE81DFBE40B"
	for path, want := range map[string][2]string{
		`d:\symbols\a.pdb\` + guid + `2\a.pdb`:        {"a.pdb", guid + "2"},
		"/a.pdb/" + strings.ToLower(guid) + "1/a.pdb": {"a.pdb", guid + "1"},
		`d:\a.pdb\` + guid + `12345678\a.pdb`:         {"a.pdb", guid + "12345678"},
		`d:\a.pdb\` + guid + `123456789\a.pdb`:        {"a.pdb", ""},
		`d:\a.pdb\` + guid + `\a.pdb`:                 {"a.pdb", ""},
		`d:\a.pdb\` + guid[:31] + `x2\a.pdb`:          {"a.pdb", ""},
		`d:\a.pdb\x` + guid[1:] + `2\a.pdb`:           {"a.pdb", ""},
		`d:\a.pdb\` + guid + `x\a.pdb`:                {"a.pdb", ""},
		"a.pdb":                                       {"a.pdb", ""},
	} {
		if pdb, id := identity(path); pdb != want[0] || id != want[1] {
			t.Errorf("%q is %q, %q, want %q", path, pdb, id, want)
		}
	}
}

// The heading of a log names machine, process and minute, as far as they are there.
func TestParseHeader(t *testing.T) {
	minute := time.Date(2025, 3, 4, 12, 10, 0, 0, time.UTC)
	for text, want := range map[string]struct {
		process capture.Process
		taken   time.Time
	}{
		"Logtime 2025-03-04 12:10 - Machine=BOX - PID=812 ": {capture.Process{PID: 812, Machine: "BOX"}, minute},
		"Logtime 2025-03-04 12:10 - Machine=BOX":            {capture.Process{Machine: "BOX"}, minute},
		"Logtime 2025-03-04 12:10":                          {capture.Process{}, minute},
		"Logtime 4.3.2025 12:10 - PID=7":                    {capture.Process{PID: 7}, time.Time{}},
		"Machine=PID=BOX - PID=7":                           {capture.Process{PID: 7, Machine: "PID=BOX"}, time.Time{}},
		"PID=x":                                             {capture.Process{}, time.Time{}},
		"PID=4294967295":                                    {capture.Process{PID: 4294967295}, time.Time{}},
		"PID=4294967296":                                    {capture.Process{}, time.Time{}},
		"":                                                  {capture.Process{}, time.Time{}},
	} {
		if p, taken := parseHeader(text); p != want.process || !taken.Equal(want.taken) {
			t.Errorf("%q is %+v at %v", text, p, taken)
		}
	}
}

// A row of the list of modules has base, size and path with blanks between, and does not reach around the end of
// memory.
func TestParseModule(t *testing.T) {
	for text, want := range map[string]string{
		`7FF72A880000 15A7000 D:\app.exe`: `7ff72a880000+15a7000 D:\app.exe`, "10\t20\ta b.dll": "10+20 a b.dll",
		"FFFFFFFFFFFFFFF0 F a": "fffffffffffffff0+f a", "FFFFFFFFFFFFFFF0 10 a": "none",
		"": "none", "10": "none", "10 20": "none", "10 20 ": "none", "x 20 a": "none", "10 x a": "none", "10x20 a": "none",
		"10 20a.dll": "none",
	} {
		d := newDraft(&lines{})
		m, ok := d.parseModule([]byte(text))
		got := "none"
		if ok {
			got = fmt.Sprintf("%x+%x %s", m.Base, m.Size, m.Path)
		}
		if got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
		if (d.addresses != 0) != ok {
			t.Errorf("%q: addresses %#x are noted", text, d.addresses)
		}
	}
}

// Numbers have as many digits as fit, of either case.
func TestHexNumbers(t *testing.T) {
	for text, want := range map[string]struct {
		value uint64
		n     int
		ok    bool
	}{
		"0": {0, 1, true}, "fFx": {0xFF, 2, true}, "FFFFFFFFFFFFFFFF": {1<<64 - 1, 16, true}, "0FFFFFFFFFFFFFFFF": {1<<64 - 1, 17, true},
		"1FFFFFFFFFFFFFFFF": {0, 16, false}, "": {0, 0, false}, "g": {0, 0, false}, "@": {0, 0, false}, "9:": {9, 1, true},
	} {
		if v, n, ok := hexPrefix(text); v != want.value || n != want.n || ok != want.ok {
			t.Errorf("%q: %#x, %d, %t", text, v, n, ok)
		}
		if _, ok := hexAll(text); ok != (want.ok && want.n == len(text)) {
			t.Errorf("%q as a whole: %t", text, ok)
		}
	}
	for text, want := range map[string]bool{"0": true, "4294967295": true, "4294967296": false, "": false, "1a": false, "1:": false, "/": false} {
		if _, ok := decimalAll(text); ok != want {
			t.Errorf("%q as a decimal: %t", text, ok)
		}
	}
}
