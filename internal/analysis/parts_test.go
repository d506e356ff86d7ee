package analysis

import (
	"strings"
	"sync/atomic"
	"testing"
)

// A panic in a part of the work reaches the caller once all parts are done.
func TestPanicInAPart(t *testing.T) {
	var done atomic.Int64
	said := func() (said any) {
		defer func() { said = recover() }()
		inParts(10_000, func(from, to int) {
			done.Add(int64(to - from))
			if from == 0 {
				panic("no such row")
			}
		})
		return nil
	}()
	if text, _ := said.(string); done.Load() != 10_000 || !strings.HasPrefix(text, "no such row\n") ||
		!strings.Contains(text, "parts_test.go") {
		t.Errorf("%d done, %v", done.Load(), said)
	}
}
