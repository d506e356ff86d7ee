package await_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"heapdrift/internal/await"
)

func TestPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, test := range []struct {
			becomesTrue, ends time.Duration
			want              bool
		}{
			{0, 0, true}, // asked once, though the context has ended
			{time.Hour, time.Minute, false},
			{time.Minute, time.Hour, true},
		} {
			begin := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), test.ends)
			asked := 0
			got := await.Poll(ctx, func() bool { asked++; return time.Since(begin) >= test.becomesTrue })
			cancel()
			if took := time.Since(begin); got != test.want || took > min(test.becomesTrue+time.Second, test.ends) {
				t.Errorf("%+v: %t after %s", test, got, took)
			}
			if asked == 0 || asked > 1300 { // a minute of pauses of 50 ms
				t.Errorf("%+v: asked %d times", test, asked)
			}
		}
	})
}

// A condition that never becomes true ends the test, with what was waited for.
func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		await.Until(t, "half a minute", func() bool { return time.Since(begin) >= 30*time.Second })
		r := &recorder{TB: t}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			await.Until(r, "the end of time", func() bool { return false })
		}()
		<-ended
		if took := time.Since(begin); r.said != "waited in vain for the end of time" || took < await.Patience {
			t.Errorf("%q after %s", r.said, took)
		}
	})
}

// A recorder keeps what a test fails with.
type recorder struct {
	testing.TB
	said string
}

func (r *recorder) Fatalf(format string, args ...any) { r.said = fmt.Sprintf(format, args...) }
