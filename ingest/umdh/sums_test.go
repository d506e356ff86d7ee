package umdh

import (
	"math"
	"testing"
)

// An entry adds its change to the sum of a base only where it has numbers of that base and the sum has room for them.
func TestSumsOfABase(t *testing.T) {
	const room = math.MaxInt64 - maxSize
	for _, c := range []struct {
		line string
		base Base
		sum  int64
		want int64
		ok   bool
	}{
		{"+ 19 ( 20 - 1) 1 allocs\tBackTraceA", BaseDecimal, 5, 24, true},
		{"- 19 ( 1 - 20) 1 allocs\tBackTraceA", BaseDecimal, 5, -14, true},
		{"+ 1F ( 20 - 1) 1 allocs\tBackTraceA", BaseHex, 5, 5 + 0x1F, true},
		{"+ 1F ( 2A - B) 1 allocs\tBackTraceA", BaseDecimal, 5, 5, false},
		{"+ 19 ( 20 - 1) 1 allocs\tBackTraceA", BaseDecimal, room, room + 19, true},
		{"+ 19 ( 20 - 1) 1 allocs\tBackTraceA", BaseDecimal, room + 1, room + 1, false},
		{"- 19 ( 1 - 20) 1 allocs\tBackTraceA", BaseDecimal, -room, -room - 19, true},
		{"- 19 ( 1 - 20) 1 allocs\tBackTraceA", BaseDecimal, -room - 1, -room - 1, false},
	} {
		entry, ok := parseCounter([]byte(c.line), &baseProof{}, 1)
		if !ok {
			t.Fatalf("%q is no entry", c.line)
		}
		sum := c.sum
		if got := add(&sum, &entry, c.base); got != c.ok || sum != c.want {
			t.Errorf("%q added to %d: %d, %t; want %d, %t", c.line, c.sum, sum, got, c.want, c.ok)
		}
	}
}
