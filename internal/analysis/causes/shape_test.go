package causes

import (
	"math"
	"testing"
)

// Leaks in a fixed ratio are neighbours by their shape, however many blocks each has; another course is elsewhere.
func TestShapesOfARatio(t *testing.T) {
	one := []int64{3, 0, 7, 2, 0, 0, 9, 1}
	five, exchanged := make([]int64, len(one)), append([]int64{0, 3}, one[2:]...)
	for i, n := range one {
		five[i] = 5 * n
	}
	a, b, other := shapeOf(one), shapeOf(five), shapeOf(exchanged)
	if math.Abs(a.place-b.place) > 1e-12 || a.place < 0 || a.place >= 1 {
		t.Errorf("places %v and %v", a.place, b.place)
	}
	if math.Abs(a.place-other.place) < 1e-3 {
		t.Errorf("another course lies at %v, too", other.place)
	}
	if a.total != 22 || b.total != 110 || a.intervals != 5 || b.intervals != 5 {
		t.Errorf("%+v, %+v", a, b)
	}
	if none := shapeOf([]int64{0, 0}); none != (shape{}) {
		t.Errorf("of nothing: %+v", none)
	}
}
