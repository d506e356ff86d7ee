package ntheap

import "fmt"

// list follows a circular LIST_ENTRY from head and hands each link to visit, until visit says no. Every link must point
// back to the one before it, so none is met twice and any list ends. Where the list breaks it is followed from its
// other end as far as that goes, and the error says where the break is.
func list(w *window, head uint64, step func() error, visit func(link uint64) bool) error {
	back := w.pointerSize()
	broken, stopped, err := chain(w, head, 0, back, step, visit)
	if err != nil || broken == 0 || stopped {
		return err
	}
	if _, _, err := chain(w, head, back, 0, step, visit); err != nil {
		return err
	}
	return &brokenList{head, broken}
}

// A brokenList is a list whose links contradict each other, or cannot be read, at an address.
type brokenList struct{ head, at uint64 }

func (b *brokenList) Error() string {
	return fmt.Sprintf("the list at %#x breaks off at %#x", b.head, b.at)
}

// chain follows the links at offset on, and checks those at offset back. broken is the first link that does not fit, 0
// for none.
func chain(w *window, head, on, back uint64, step func() error, visit func(link uint64) bool) (broken uint64,
	stopped bool, err error) {
	at := head
	for {
		if err := step(); err != nil {
			return 0, false, err
		}
		next, ok := w.pointer(at + on)
		if !ok || next == 0 {
			return at, false, nil
		}
		if behind, ok := w.pointer(next + back); !ok || behind != at {
			return next, false, nil
		}
		if next == head {
			return 0, false, nil
		}
		if !visit(next) {
			return 0, true, nil
		}
		at = next
	}
}

// A cycle finds out that a chain of single links runs in a circle (Brent's method): it remembers one link at a time.
type cycle struct {
	seen        uint64
	steps, turn uint64
}

// met reports whether the chain has come to at before. It may be noticed a few turns late.
func (c *cycle) met(at uint64) bool {
	if c.turn != 0 && at == c.seen {
		return true
	}
	if c.steps == c.turn {
		c.seen, c.steps, c.turn = at, 0, 2*c.turn+1
	}
	c.steps++
	return false
}
