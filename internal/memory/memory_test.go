package memory

import (
	"context"
	"errors"
	"math"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"heapdrift/internal/await"
)

func TestSizes(t *testing.T) {
	for text, want := range map[string]Size{"512M": 512 << 20, "4GiB": 4 << 30, "1.5g": 3 << 29, "1073741824": 1 << 30,
		"64 MB": 64 << 20, "16M": 16 << 20, "2T": 2 << 40} {
		var s Size
		if err := s.Set(text); err != nil || s != want {
			t.Errorf("%q: %d, %v; want %d", text, s, err, want)
		}
		var again Size
		if err := again.Set(s.String()); err != nil || again != s {
			t.Errorf("%q prints as %q, which reads as %d, %v", text, s.String(), again, err)
		}
	}
	for _, text := range []string{"", "M", "-1G", "15M", "4X", "1e30", "NaN", "much", "B", "9999999999T"} {
		var s Size
		if err := s.Set(text); err == nil || s != 0 {
			t.Errorf("%q is taken as %d", text, s)
		}
	}
}

func TestDefault(t *testing.T) {
	if d := Default(); d < least || d > most {
		t.Errorf("%d", d)
	}
}

// take takes memory, which it keeps, until its context ends.
func take(ctx context.Context) error {
	var kept [][]byte
	for ctx.Err() == nil {
		page := make([]byte, 1<<20)
		for i := 0; i < len(page); i += 4096 {
			page[i] = 1
		}
		kept = append(kept, page)
		time.Sleep(100 * time.Microsecond) //nolint:forbidigo // as slowly as work that Enforce can end in time
	}
	if len(kept) == 0 {
		return nil
	}
	return ctx.Err()
}

// watch runs Enforce for a budget until stop is called.
func watch(t *testing.T, b *Budget) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.Enforce(ctx)
	}()
	return ctx, func() {
		cancel()
		<-ended // the collector's limit is the program's
	}
}

// looked waits until Enforce has looked with the present limit, and goes on to the next look: it takes the second message
// about the limit when it is done with the first.
func looked(t *testing.T, b *Budget) {
	t.Helper()
	for range 2 {
		b.SetLimit(b.Limit())
		await.Until(t, "a look of Enforce", func() bool { return len(b.set) == 0 })
	}
}

func TestBudget(t *testing.T) {
	b := NewBudget(128 << 20)
	ctx, stop := watch(t, b)
	defer stop()
	var exceeded *LimitError
	if err := b.Do(ctx, take); !errors.As(err, &exceeded) || !strings.Contains(err.Error(), "128M") {
		t.Fatalf("work that takes all: %v", err)
	}
	if err := b.Do(ctx, func(ctx context.Context) error { return ctx.Err() }); err != nil {
		t.Errorf("small work behind it: %v", err)
	}
	// Work that ends for another reason returns that reason.
	ended, end := context.WithCancelCause(ctx)
	end(errors.New("enough"))
	if err := b.Do(ended, take); errors.As(err, &exceeded) {
		t.Errorf("ended by its caller: %v", err)
	}
}

// Of two pieces of work the younger is ended, and done again once the older is done, however long that takes. Work that
// comes later waits for both.
func TestYoungerWorkWaits(t *testing.T) {
	b := NewBudget(128 << 20)
	ctx, stop := watch(t, b)
	defer stop()
	older, younger, late := make(chan error, 1), make(chan error, 1), make(chan error, 1)
	done, began, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var order []string // what may run alone only
	go func() {
		older <- b.Do(ctx, func(ctx context.Context) error {
			close(began)
			<-done
			order = append(order, "older")
			return ctx.Err()
		})
	}()
	<-began
	try := 0
	go func() {
		younger <- b.Do(ctx, func(ctx context.Context) error {
			if try++; try == 1 {
				defer close(ended)
				return take(ctx)
			}
			order = append(order, "younger")
			return ctx.Err()
		})
	}()
	<-ended
	waiting := func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.alone
	}
	await.Until(t, "the younger work to ask for all memory", waiting)
	go func() {
		late <- b.Do(ctx, func(ctx context.Context) error {
			order = append(order, "late")
			return ctx.Err()
		})
	}()
	gone, leave := context.WithCancelCause(ctx)
	leave(errors.New("enough"))
	if err := b.Do(gone, take); err == nil || err.Error() != "enough" {
		t.Errorf("what waits no longer: %v", err)
	}
	time.Sleep(10 * time.Millisecond) //nolint:forbidigo // the late one begins, if it may: nothing tells that it does not
	close(done)
	for name, result := range map[string]chan error{"older": older, "younger": younger, "late": late} {
		if err := <-result; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := strings.Join(order, " "); got != "older younger late" || try != 2 {
		t.Errorf("%s, %d attempts", got, try)
	}
}

// Enforce looks rarely while much memory is left, and at once when the limit changes.
func TestEnforceIsCheap(t *testing.T) {
	for left, want := range map[int64]time.Duration{-1: shortest, 0: shortest, 1 << 20: shortest, 1 << 50: longest,
		math.MaxInt64: longest} {
		if got := until(left); got != want {
			t.Errorf("%d bytes left: %s, want %s", left, got, want)
		}
	}
	if wait := until(least); wait > longest/2 {
		t.Errorf("%s with the smallest budget", wait)
	}
	b := NewBudget(1 << 40)
	ctx, stop := watch(t, b)
	defer stop()
	looked(t, b)
	begin := time.Now()
	kept := make([]byte, 2*least)
	err := b.Do(ctx, func(ctx context.Context) error {
		for i := 0; i < len(kept); i += 4096 {
			kept[i] = 1
		}
		b.SetLimit(least)
		<-ctx.Done()
		return ctx.Err()
	})
	if exceeded := (*LimitError)(nil); !errors.As(err, &exceeded) || time.Since(begin) > 10*time.Second {
		t.Errorf("%v after %s", err, time.Since(begin))
	}
	kept[0] = 0
}

// A smaller limit set with GOMEMLIMIT stays in force.
func TestLimitOfTheCollector(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	for set, want := range map[int64]int64{math.MaxInt64: 1 << 30 / 10 * 9, 100 << 20: 100 << 20} {
		debug.SetMemoryLimit(set)
		b := NewBudget(1 << 30)
		_, stop := watch(t, b)
		looked(t, b)
		if got := debug.SetMemoryLimit(-1); got != want {
			t.Errorf("%d: the collector keeps to %d, want %d", set, got, want)
		}
		stop()
		if got := debug.SetMemoryLimit(-1); got != set {
			t.Errorf("%d: %d is left", set, got)
		}
	}
}
