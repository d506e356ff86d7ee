package ntheap

import (
	"errors"
	"fmt"
	"testing"
)

// A list is followed from both ends where it breaks, unless whoever follows it has enough.
func TestBrokenLists(t *testing.T) {
	const head = 0x1000
	for name, test := range map[string]struct {
		change func(m words)
		most   int // links that are wanted
		visits string
		broken uint64
	}{
		"whole":               {func(words) {}, 9, "2000 3000 4000 ", 0},
		"enough":              {func(words) {}, 2, "2000 3000 ", 0},
		"a link is 0":         {func(m words) { m[0x2000] = 0 }, 9, "2000 4000 3000 ", 0x2000},
		"a link is elsewhere": {func(m words) { m[0x2000] = 0x9000 }, 9, "2000 4000 3000 ", 0x9000},
		"a link is lost":      {func(m words) { delete(m, 0x3000) }, 9, "2000 3000 4000 ", 0x3000},
		"it skips one":        {func(m words) { m[0x2000] = 0x4000 }, 9, "2000 4000 3000 ", 0x4000},
		"the head is 0":       {func(m words) { m[head] = 0 }, 9, "4000 3000 2000 ", head},
		"both ends":           {func(m words) { m[head], m[head+8] = 0, 0 }, 9, "", head},
		"enough before it":    {func(m words) { m[0x3000] = 0 }, 2, "2000 3000 ", 0},
	} {
		m := words{head: 0x2000, head + 8: 0x4000, 0x2000: 0x3000, 0x2008: head, 0x3000: 0x4000, 0x3008: 0x2000,
			0x4000: head, 0x4008: 0x3000}
		test.change(m)
		visits, n := "", 0
		err := list(newWindow(m, true, 16), head, func() error { return nil }, func(link uint64) bool {
			visits += fmt.Sprintf("%x ", link)
			n++
			return n < test.most
		})
		var broken *brokenList
		if errors.As(err, &broken); visits != test.visits || (broken == nil) != (test.broken == 0) ||
			broken != nil && broken.at != test.broken {
			t.Errorf("%s: %s, %v", name, visits, err)
		}
	}
	full := errors.New("no more steps")
	if err := list(newWindow(words{head: 0x2000}, true, 16), head, func() error { return full },
		func(uint64) bool { return true }); !errors.Is(err, full) {
		t.Errorf("without steps: %v", err)
	}
}
