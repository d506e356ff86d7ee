package analysis_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
)

// A function inlined into itself gives one return address the same call several times: the report stores the frame
// once, and reads back with every call.
func TestCallsThatAreInlinedIntoThemselves(t *testing.T) {
	c := app.snapshot(row{id: 1, stack: app.in(-0x10, 0x1005), count: 2, bytes: 100})
	image := capture.Image{ImageID: c.Modules[0].ImageID(), Symbols: capture.SymbolsPrivate}
	walk := capture.NamedFrame{Function: "Walk", File: "walk.cpp", Line: 7, Inline: true}
	image.Add(0x1005, walk, walk, walk, capture.NamedFrame{Function: "Walk", Offset: 0x5, File: "walk.cpp", Line: 7})
	names := &capture.Names{Images: []capture.Image{image}}
	names.Sort()
	r, err := analysis.Analyze(t.Context(), inputs(c), analysis.Options{Names: names})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.Stacks.FrameNumbers(r.Sites[0].Stack)); n != 5 || r.Stacks.FrameCount() != 3 {
		t.Errorf("%d calls, %d frames", n, r.Stacks.FrameCount())
	}
	var text bytes.Buffer
	if err := r.WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	again, err := analysis.ReadJSON(&text)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(r.Stack(r.Sites[0].Stack), again.Stack(again.Sites[0].Stack)) {
		t.Errorf("%v", again.Stack(again.Sites[0].Stack))
	}
}

// Frames and stacks keep the numbers of their rows, even if two rows are equal.
func TestEqualRowsKeepTheirNumbers(t *testing.T) {
	const frame = `{"module":"m","function":"f","offset":"0x1"}`
	r, err := analysis.ReadJSON(strings.NewReader(`{"schema":"heapdrift.report/v2","frames":[` + frame + `,` + frame +
		`,{"module":"n"}],"stacks":[[0],[1],[0],[2]],"sites":[{"stack":3}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Stack(r.Sites[0].Stack); len(got) != 1 || got[0].Module != "n" {
		t.Errorf("%v", got)
	}
}

// A number of no stack is an error, however large it is.
func TestNumbersOfStacks(t *testing.T) {
	for number, want := range map[string]bool{"-1": true, "0": true, "1": false, "-2": false, "2147483646": false,
		"2147483647": false, "9999999999999999999999": false, "null": false, `"0"`: false, "0.0": false} {
		for _, field := range []string{`"stack":` + number, `"stack":0,"aliases":[` + number + `]`} {
			_, err := analysis.ReadJSON(strings.NewReader(`{"schema":"heapdrift.report/v2","frames":[{"module":"n"}],"stacks":[[0]],"sites":[{` + field + `}]}`))
			if (err == nil) != want {
				t.Errorf("%s: %v", field, err)
			}
		}
	}
}

// A report with more rules than a project may have is refused, so that no frame is shown with another rule's number.
func TestTooManyRules(t *testing.T) {
	text := []byte(`{"schema":"heapdrift.report/v2","frames":[`)
	for i := range 1 << 16 {
		text = fmt.Appendf(text, `{"module":"m","rule":"%d"},`, i)
	}
	text = append(bytes.TrimSuffix(text, []byte(",")), `],"sites":[]}`...)
	if _, err := analysis.ReadJSON(bytes.NewReader(text)); err == nil || !strings.Contains(err.Error(), "rules") {
		t.Error(err)
	}
}

// Several goroutines may write a report, and its text is always the same.
func TestWriteJSONAtOnce(t *testing.T) {
	var rows []row
	for i := range int64(1200) {
		rows = append(rows, row{id: uint64(i + 1), stack: app.in(-0x10, 0x1000+i%700*8, 0x4000+i*4), heap: int32(i % 2),
			count: i%7 + 1, bytes: (i%7 + 1) * 16})
	}
	all, err := analysis.Analyze(t.Context(), inputs(app.snapshot(rows...)), analysis.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := all.WriteJSON(&want); err != nil {
		t.Fatal(err)
	}
	for _, shown := range []int{1, 5000} {
		r, err := analysis.Analyze(t.Context(), inputs(app.snapshot(rows...)), analysis.Options{ShownRows: shown})
		if err != nil {
			t.Fatal(err)
		}
		var texts [2]bytes.Buffer
		var group sync.WaitGroup
		for i := range texts {
			group.Go(func() {
				if err := r.WriteJSON(&texts[i]); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		for i := range texts {
			if !bytes.Equal(texts[i].Bytes(), want.Bytes()) {
				t.Errorf("%d shown: it differs", shown)
			}
		}
	}
}
