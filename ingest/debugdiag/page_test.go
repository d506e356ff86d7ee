package debugdiag_test

import (
	"bytes"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/debugdiag"
)

const dumpSection = `<html><div data-debug-details="dump" data-debug-dump="a.dmp" id="B1C1"><h1>Report for a.dmp</h1>`

// TestBlanks: non-breaking blanks are blanks, and a run of blanks is one.
func TestBlanks(t *testing.T) {
	c := read(t, []byte(dumpSection+
		"<table><tr><td>Command&nbsp;Line</td><td>&nbsp;&nbsp;a.exe&nbsp;&nbsp; \r\n-x</td></tr></table></html>"))
	if !hasNote(c, capture.TopicProcess, "Command Line: a.exe -x") {
		t.Errorf("%+v", c.Memory.Notes)
	}
}

// TestCutInNumber: a number at which the page ends is left out, because it may be the beginning of a longer one.
func TestCutInNumber(t *testing.T) {
	c := read(t, []byte(dumpSection+
		"<table><tr><td>Machine Name</td><td>BOX</td></tr><tr><td>Number of allocations</td><td>12"))
	if c.Process.Machine != "BOX" || hasNote(c, capture.TopicLeakTrack, "12 allocations") || codes(c) != "truncated" {
		t.Errorf("%+v %+v", c.Memory.Notes, c.Warnings)
	}
}

// TestOpenDiv: a div that is left open in a cell does not keep the section around the cell open.
func TestOpenDiv(t *testing.T) {
	first := dumpSection + "<table><tr><td><div>Machine Name</td><td>BOX</td></tr></table></div>"
	second := `<div data-debug-details="dump" data-debug-dump="b.dmp" id="B1C2"><table><tr><td>Machine Name</td><td>BOX</td></tr></table>`
	captures, err := debugdiag.Read(t.Context(), strings.NewReader(first+second))
	if err != nil || len(captures) != 2 || codes(captures[0]) != "" || codes(captures[1]) != "truncated" {
		t.Errorf("%d captures, %v", len(captures), err)
	}
}

// TestBeyondAllSizes: functions whose sizes would overflow the sum are left out, with a warning.
func TestBeyondAllSizes(t *testing.T) {
	function := "<table><tr><td>Function</td><td>a!b+1</td></tr><tr><td>Allocation Size</td><td>131072 TBytes</td></tr></table>"
	c := read(t, []byte(dumpSection+strings.Repeat(function, 100)+"</html>"))
	if len(c.Sites) != 32 || c.Total(0).Bytes <= 0 || !strings.Contains(codes(c), string(capture.Malformed)) {
		t.Errorf("%d sites, %+v, %+v", len(c.Sites), c.Total(0), c.Warnings)
	}
	if err := c.Write(&bytes.Buffer{}); err != nil {
		t.Error(err)
	}
}
