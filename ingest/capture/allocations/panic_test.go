package allocations

import (
	"strings"
	"testing"
)

// A namedSink takes no rows.
type namedSink string

func (namedSink) AddRows([]Row) error { return nil }

// A panic of one sink reaches the caller of a scan, who may be a request: it does not end the program.
func TestPanicInAScan(t *testing.T) {
	begun := make(chan struct{})
	said := func() (said any) {
		defer func() { said = recover() }()
		return deal(t.Context(), 2, []Sink{namedSink("first"), namedSink("second")}, func(_ int64, sink Sink) error {
			if sink == namedSink("first") {
				<-begun // so that the second gets a part
				return nil
			}
			close(begun)
			panic("no such row")
		})
	}()
	if text, _ := said.(string); !strings.HasPrefix(text, "no such row\n") {
		t.Errorf("%v", said)
	}
}
