package crew_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"heapdrift/ingest/crew"
)

// All work is done, and the first panic comes out where it is waited for.
func TestCrew(t *testing.T) {
	var done atomic.Int64
	var c crew.Crew
	for range 4 {
		c.Go(func() { done.Add(1) })
	}
	c.Go(func() { panic("a part") })
	func() {
		defer func() {
			if said, _ := recover().(string); !strings.HasPrefix(said, "a part\n") || !strings.Contains(said, "crew_test.go") {
				t.Errorf("%q", said)
			}
		}()
		c.Wait()
		t.Error("it does not panic")
	}()
	if done.Load() != 4 {
		t.Errorf("%d of 4", done.Load())
	}
	var calm crew.Crew
	calm.Go(func() { done.Add(1) })
	if calm.Wait(); done.Load() != 5 {
		t.Error("it does not wait")
	}
}
