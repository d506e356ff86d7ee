package exitlog_test

import (
	"strings"
	"testing"

	"heapdrift/ingest/exitlog"
	"heapdrift/ingest/exitlog/exitlogtest"
)

// A capture says how many lists it sums: a program that runs twice in a log prints twice as many, whatever the tool.
func TestPrintedLists(t *testing.T) {
	suite := exitlogtest.Suite{Program: "app.exe", Tests: []exitlogtest.Test{{Name: "A.Leaks", Left: []exitlogtest.Block{
		{File: `c:\src\a.cpp`, Line: 3, Size: 64, Function: "A::Add"}, {File: `c:\src\b.cpp`, Line: 4, Size: 32, Function: "B::Add"}}}}}
	printed := func(kind, log string) (n int64) {
		captures, err := exitlog.Read(t.Context(), strings.NewReader(log))
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		for _, c := range captures {
			valid(t, c)
			n += c.Printed
		}
		return n
	}
	for _, kind := range exitlogtest.Kinds() {
		log := suite.Plain(kind)
		if one, two := printed(kind, log), printed(kind, log+"\n"+log); one < 1 || two != 2*one {
			t.Errorf("%s: %d lists, twice %d", kind, one, two)
		}
	}
}
