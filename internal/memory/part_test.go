package memory_test

import (
	"context"
	"errors"
	"testing"

	"heapdrift/internal/memory"
)

func TestPartIsAllForWorkThatIsAlone(t *testing.T) {
	b := memory.NewBudget(900)
	var sizes []memory.Size
	err := b.Do(t.Context(), func(ctx context.Context) error {
		size, release := memory.ReservePart(ctx, 3)
		defer release()
		if sizes = append(sizes, size); size < 900 {
			return &memory.LimitError{Limit: size} // of the other process
		}
		return nil
	})
	if err != nil || len(sizes) != 2 || sizes[0] != 300 || sizes[1] != 900 {
		t.Errorf("%v, %v: a third, then all", sizes, err)
	}
	err = b.Do(t.Context(), func(ctx context.Context) error {
		size, release := memory.ReservePart(ctx, 3)
		defer release()
		return &memory.LimitError{Limit: size}
	})
	if e := (*memory.LimitError)(nil); !errors.As(err, &e) || e.Limit != 900 {
		t.Errorf("%v: what needs more than all has failed", err)
	}
}
