package capture_test

import (
	"fmt"
	"slices"
	"testing"

	"heapdrift/ingest/capture"
)

// Trim changes no number of a frame or stack, neither those given before it nor those given after.
func TestTrim(t *testing.T) {
	fill := func(trim func(s *capture.Stacks)) string {
		var s capture.Stacks
		ids := ""
		for i := range 300 {
			if i%100 == 50 {
				trim(&s)
			}
			a, b := s.AddAddress(uint64(i%70)), s.AddText(capture.FrameText{Function: fmt.Sprint("f", i%90)}, uint64(i%3))
			if i%100 == 51 {
				trim(&s)
			}
			ids += fmt.Sprint(a, b, s.AddStack([]capture.FrameID{a, b}), " ")
		}
		return ids + fmt.Sprint(s.FrameCount(), s.Count())
	}
	want := fill(func(*capture.Stacks) {})
	if got := fill((*capture.Stacks).Trim); got != want {
		t.Errorf("trimmed\n%s\nwant\n%s", got, want)
	}
}

// Many addresses at once are the same frames as one after the other, in a table that is empty, too.
func TestAddresses(t *testing.T) {
	var one, many capture.Stacks
	addresses := []uint64{0x1000, 0x2000, 0x1000, 0x3000}
	for range 2 {
		ids := many.AddAddresses([]capture.FrameID{7}, addresses)
		want := []capture.FrameID{7}
		for _, a := range addresses {
			want = append(want, one.AddAddress(a))
		}
		if !slices.Equal(ids, want) {
			t.Errorf("%v, want %v", ids, want)
		}
	}
	if ids := many.AddAddresses(nil, nil); len(ids) != 0 {
		t.Errorf("%v of none", ids)
	}
}
