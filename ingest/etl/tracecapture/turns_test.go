package tracecapture

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"heapdrift/ingest/etl"
)

func TestTurns(t *testing.T) {
	image := func(path string, base uint64, load, unload int64) etl.Image {
		return etl.Image{Path: path, Base: base, Size: 0x1000, Load: load, Unload: unload}
	}
	images := []etl.Image{
		image("app.exe", 0x1000, etl.UnknownTime, etl.UnknownTime),
		image("a.dll", 0x8000, 10, 100), image("b.dll", 0x8000, 200, 300), image("A.DLL", 0x8000, 400, 900),
		image("c.dll", 0x8800, 310, 320),
	}
	turns := newTurns(images, 0, 1000)
	names := func(list []era) string {
		var text string
		for _, e := range list {
			text += fmt.Sprintf("%d:", max(e.from, -1))
			for _, i := range e.images {
				text += " " + strings.ToLower(turns.images[i].Path)
			}
			text += "; "
		}
		return text
	}
	for text, addresses := range map[string][]uint64{
		"":                                    {0x1000, 0x7FFF, 0xFFFF},
		"-1: a.dll; 151: b.dll; 351: a.dll; ": {0x1000, 0x8000},
		"-1: c.dll; ":                         {0x9000},
		"-1: a.dll; 151: b.dll; 306: c.dll; 361: a.dll; ": {0x8900},
	} {
		if got := names(turns.eras(addresses)); got != text {
			t.Errorf("%x: %s, want %s", addresses, got, text)
		}
	}
	if got := len(turns.eras([]uint64{0x8900, 0x8000})); got < 4 {
		t.Errorf("%d eras of two addresses", got)
	}
	turns.steps = 0
	if got := turns.eras([]uint64{0x8000}); got != nil || turns.left != 1 {
		t.Errorf("without steps: %v, %d frames left", got, turns.left)
	}
	if turns := newTurns(images[:2], 0, 1000); turns != nil {
		t.Errorf("images apart: %+v", turns)
	}
	if got := away([]stretch{{math.MinInt64, math.MaxInt64}}, 5); got != 0 {
		t.Errorf("always there: %d away", got)
	}
}
