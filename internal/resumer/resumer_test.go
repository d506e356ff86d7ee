package resumer

import (
	"errors"
	"strings"
	"testing"
)

// A process is resumed where the letters end inside a pause, and only there.
func TestWatch(t *testing.T) {
	for letters, want := range map[string]int{"": 0, "s": 1, "sr": 0, "srs": 1, "srsr": 0, "r": 0} {
		resumed := 0
		err := watch(strings.NewReader(letters), func() error { resumed++; return nil })
		if err != nil || resumed != want {
			t.Errorf("%q: resumed %d times, want %d: %v", letters, resumed, want, err)
		}
	}
	failure := errors.New("it has ended")
	if err := watch(strings.NewReader("s"), func() error { return failure }); !errors.Is(err, failure) {
		t.Error(err)
	}
}

// No resumer is one that does nothing.
func TestNone(t *testing.T) {
	var r *Resumer
	r.Suspending()
	r.Resumed()
	r.Close()
}
