package run_test

import (
	"reflect"
	"testing"

	"heapdrift/internal/query"
	"heapdrift/web/pages/run"
)

// With three snapshots or more the page lets choose snapshots, and with five or more it offers a half. Each preset
// selects what it says.
func TestChoiceOfSnapshots(t *testing.T) {
	preset := func(text string, from, to int) run.Preset {
		return run.Preset{Text: text, Selected: query.Snapshots{From: from, To: to}}
	}
	for n, want := range map[int][]run.Preset{
		1: nil,
		2: nil,
		3: {preset("All", 1, 3), preset("Without the first", 2, 3)},
		4: {preset("All", 1, 4), preset("Without the first", 2, 4), preset("Last step", 3, 4)},
		5: {preset("All", 1, 5), preset("Without the first", 2, 5), preset("Last half", 3, 5), preset("Last step", 4, 5)},
		6: {preset("All", 1, 6), preset("Without the first", 2, 6), preset("Last half", 4, 6), preset("Last step", 5, 6)},
	} {
		var got []run.Preset
		if choice := run.ChooseSnapshots(n, query.Range{}); choice != nil {
			got = choice.Presets
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d snapshots: %v, not %v", n, got, want)
		}
	}
}

// The brush shades the part that is not chosen, and nothing before the first snapshot and after the last.
func TestBrushOfSnapshots(t *testing.T) {
	all := run.ChooseSnapshots(5, query.Range{})
	first, last := all.Brush[1], all.Brush[2]
	if all.Brush[0] != 0 || all.Brush[3] != 0 || first <= 0 || last >= 1000 {
		t.Errorf("all snapshots: %v", all.Brush)
	}
	at := func(number int) float64 { return first + (last-first)*float64(number-1)/4 }
	for selected, want := range map[query.Range][4]float64{
		{From: 1, To: 5}: {0, at(1), at(5), 0},
		{From: 2}:        {at(2), at(2), at(5), 0},
		{To: 4}:          {0, at(1), at(4), 1000 - at(4)},
		{From: 3, To: 3}: {at(3), at(3), at(3), 1000 - at(3)},
	} {
		if got := run.ChooseSnapshots(5, selected).Brush; got != want {
			t.Errorf("%+v: %v, not %v", selected, got, want)
		}
	}
}
