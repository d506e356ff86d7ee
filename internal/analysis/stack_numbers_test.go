package analysis

import "testing"

// Equal stacks, sets of stacks and ids have one number, and different ones have different numbers.
func TestStackNumbers(t *testing.T) {
	s := newStackNumbers()
	stack := func(frames ...func()) func() stackNumber {
		return func() stackNumber {
			s.begin()
			for _, frame := range frames {
				frame()
			}
			return s.end()
		}
	}
	offset := func(module string, size, at uint64) func() { return func() { s.offset(s.module(module, size), at) } }
	address := func(at uint64) func() { return func() { s.address(at) } }
	text := func(module, function string, at uint64) func() {
		return func() { s.text(textFrame{module, function, at}) }
	}
	a, b, c := stack(address(1))(), stack(address(2))(), stack(address(3))()
	for range 2 {
		contents := map[string]func() stackNumber{
			"address 0":                  stack(address(0)),
			"address 1":                  stack(address(1)),
			"addresses 1 and 2":          stack(address(1), address(2)),
			"addresses 2 and 1":          stack(address(2), address(1)),
			"a module at 1":              stack(offset("app", 10, 1)),
			"the module at 2":            stack(offset("app", 10, 2)),
			"another build of it at 1":   stack(offset("app", 11, 1)),
			"another module at 1":        stack(offset("library", 10, 1)),
			"a function":                 stack(text("app", "f", 1)),
			"the function, further on":   stack(text("app", "f", 2)),
			"another function":           stack(text("app", "g", 1)),
			"the function elsewhere":     stack(text("library", "f", 1)),
			"a function and an address":  stack(text("app", "f", 1), address(1)),
			"one of two stacks":          func() stackNumber { return s.joint([]stackNumber{a, b}) },
			"one of two others":          func() stackNumber { return s.joint([]stackNumber{a, c}) },
			"one of three":               func() stackNumber { return s.joint([]stackNumber{a, b, c}) },
			"an id":                      func() stackNumber { return s.id(0, 7) },
			"another id":                 func() stackNumber { return s.id(0, 8) },
			"the id in the second life":  func() stackNumber { return s.id(1, 7) },
			"an id as large as a number": func() stackNumber { return s.id(1, uint64(a)) },
		}
		of := map[stackNumber]string{}
		for name, number := range contents {
			n := number()
			if other, taken := of[n]; taken || n == 0 {
				t.Errorf("%q has number %d, as %q", name, n, other)
			}
			of[n] = name
			if again := number(); again != n {
				t.Errorf("%q has numbers %d and %d", name, n, again)
			}
		}
	}
	if s.joint(nil) != 0 || s.joint([]stackNumber{b}) != b {
		t.Error("a set of no stack is none, and that of one is the stack")
	}
}
