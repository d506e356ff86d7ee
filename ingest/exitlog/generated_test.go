package exitlog_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"strings"
	"testing"
	"unicode/utf16"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/exitlog"
	"heapdrift/ingest/exitlog/exitlogtest"
)

// suite has five blocks in two tests, from three lines: 12 and 12 and 40 bytes in Fills, 40 and 5000 bytes in Evicts.
var suite = &exitlogtest.Suite{Program: "tests.exe", Seed: 42, Tests: []exitlogtest.Test{
	{Name: "Cache.Fills", Left: []exitlogtest.Block{
		{File: `c:\src\cache.cpp`, Line: 88, Size: 12, Function: "Cache::Add"},
		{File: `c:\src\cache.cpp`, Line: 88, Size: 12, Function: "Cache::Add"},
		{File: `c:\src\list.cpp`, Line: 7, Size: 40, Function: "List::Push"},
	}},
	{Name: "Cache.Clears"},
	{Name: "Cache.Evicts", Left: []exitlogtest.Block{
		{File: `c:\src\list.cpp`, Line: 7, Size: 40, Function: "List::Push"},
		{File: `c:\src\cache.cpp`, Line: 120, Size: 5000, Function: "Cache::Evict"},
	}},
}}

// left is what the suite left in each test, by the line that allocated it.
var left = map[string]string{
	"Cache.Fills":  "cache.cpp:88 24 bytes in 2, list.cpp:7 40 bytes in 1",
	"Cache.Evicts": "cache.cpp:120 5000 bytes in 1, list.cpp:7 40 bytes in 1",
}

// byLine sums captures up as left is written. Sites without a line count in the bytes of "".
func byLine(captures []*capture.Capture) map[string]string {
	places := []string{"cache.cpp:88", "cache.cpp:120", "list.cpp:7", ""}
	sums := map[string]map[string]capture.Usage{}
	for _, c := range captures {
		if sums[c.Test] == nil {
			sums[c.Test] = map[string]capture.Usage{}
		}
		for i := range c.Sites {
			at := ""
			for _, id := range c.Stacks.Stack(c.Sites[i].Stack) {
				if text := c.Stacks.Text(c.Stacks.Frame(id)); text != nil && at == "" {
					place := fmt.Sprintf("%s:%d", text.File[strings.LastIndexAny(text.File, `\/`)+1:], text.Line)
					for _, known := range places {
						if place == known {
							at = place
						}
					}
				}
			}
			sums[c.Test][at] = sums[c.Test][at].Add(c.Sites[i].Usage[0])
		}
	}
	out := map[string]string{}
	for test, of := range sums {
		var parts []string
		for _, at := range places {
			if u, ok := of[at]; ok {
				parts = append(parts, fmt.Sprintf("%s %d bytes in %d", at, u.Bytes, u.Count))
			}
		}
		out[test] = strings.Join(parts, ", ")
	}
	return out
}

// wanted is left, or what of it a list without lines shows.
func wanted(kind string) map[string]string {
	if kind == "fastmm summary" {
		return map[string]string{"Cache.Fills": " 64 bytes in 3", "Cache.Evicts": " 5040 bytes in 2"}
	}
	return left
}

func inUTF16(text string) string {
	out := []byte{0xFF, 0xFE}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = binary.LittleEndian.AppendUint16(out, unit)
	}
	return string(out)
}

// decorated is what CI systems, consoles and editors make of a log.
var decorated = map[string]func(log string) string{
	"plain": func(log string) string { return log },
	"times": func(log string) string { return eachLine(log, "2026-01-02T03:04:05.1234567Z ", "") },
	"ctest": func(log string) string { return eachLine(log, "55: ", "") },
	"group": func(log string) string {
		return "##[group]Run tests\n" + eachLine(log, "2026-01-02T03:04:05.1234567Z ##[debug]", "") + "##[endgroup]\n"
	},
	"jenkins":    func(log string) string { return eachLine(log, "[2026-01-02T03:04:05.678Z] ", "") },
	"teamcity":   func(log string) string { return eachLine(log, "[03:04:05]W:\t [Step 1/2] ", "") },
	"compose":    func(log string) string { return eachLine(log, "worker_1  | ", "") },
	"colours":    func(log string) string { return eachLine(log, "\x1b[0;32m", "\x1b[0m") },
	"CR LF":      func(log string) string { return strings.ReplaceAll(log, "\n", "\r\n") },
	"UTF-16":     inUTF16,
	"in a build": func(log string) string { return strings.Repeat("[1/9] Building a.cpp.obj\n", 9000) + log },
}

func eachLine(log, before, after string) string {
	var b strings.Builder
	for line := range strings.Lines(log) {
		b.WriteString(before + strings.TrimSuffix(line, "\n") + after + "\n")
	}
	return b.String()
}

// Each tool's list is read for what the suite left, whatever is around it.
func TestGenerated(t *testing.T) {
	for _, kind := range exitlogtest.Kinds() {
		for name, decorate := range decorated {
			log := []byte(decorate(suite.Plain(kind)))
			captures, err := exitlog.Read(t.Context(), bytes.NewReader(log))
			if got := byLine(captures); err != nil || !maps.Equal(got, wanted(kind)) {
				t.Errorf("%s, %s: %v\n%q\n%s", kind, name, err, got, render(captures, nil))
			}
			if err := exitlog.Check(t.Context(), bytes.NewReader(log), int64(len(log))); err != nil || !exitlog.Sniff(log[:min(len(log), 64<<10)]) {
				t.Errorf("%s, %s: refused: %v", kind, name, err)
			}
			for _, c := range captures {
				first, _, _ := strings.Cut(kind, " ")
				if string(c.Kind) != first || c.Snapshots[0].LowerBound {
					t.Errorf("%s, %s: kind %s, lower bound %t", kind, name, c.Kind, c.Snapshots[0].LowerBound)
				}
			}
		}
	}
}

// A list that breaks off after any of its lines gives what comes before, and is never more than the whole list.
func TestGeneratedCut(t *testing.T) {
	for _, kind := range exitlogtest.Kinds() {
		log := suite.Plain(kind)
		var cut strings.Builder
		before, brokeOff := capture.Usage{}, false
		for line := range strings.Lines(log) {
			cut.WriteString(line)
			captures, err := exitlog.Read(t.Context(), strings.NewReader(cut.String()))
			if (err == nil) != (len(captures) > 0) {
				t.Fatalf("%s: %d captures and %v", kind, len(captures), err)
			}
			var sum capture.Usage
			for _, c := range captures {
				valid(t, c)
				sum = sum.Add(c.Total(0))
				brokeOff = brokeOff || c.Snapshots[0].LowerBound
			}
			if sum.Count < before.Count || sum.Bytes < before.Bytes {
				t.Errorf("%s: %+v after %+v, cut behind %q", kind, sum, before, line)
			}
			before = sum
		}
		if endless := strings.HasPrefix(kind, "fastmm") || kind == "intel-inspector"; brokeOff == endless {
			t.Errorf("%s: a list that breaks off is said: %t", kind, brokeOff)
		}
		if before != (capture.Usage{Count: 5, Bytes: 5104}) {
			t.Errorf("%s: %+v in the whole log", kind, before)
		}
	}
}
