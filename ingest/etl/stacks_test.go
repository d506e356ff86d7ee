package etl_test

import (
	"slices"
	"testing"

	"heapdrift/ingest/etl"
)

// stacksOf reads a trace and returns the stack of each block, by address.
func stacksOf(t *testing.T, file []byte) (map[uint64][]uint64, *etl.JoinResult) {
	t.Helper()
	ids := map[uint64]etl.StackID{}
	joined, err := open(t, file).Operations(t.Context(), etl.JoinOptions{}, func(o *etl.Operation) error {
		if o.Kind == etl.KindHeapAlloc {
			ids[o.Address] = o.Stack
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	stacks := map[uint64][]uint64{}
	for address, id := range ids {
		stacks[address] = joined.Stacks.Append(nil, id)
		if again := joined.Stacks.Append(nil, joined.Stacks.Canonical(id)); !slices.Equal(again, stacks[address]) {
			t.Errorf("block %#x: the canonical stack is %x, not %x", address, again, stacks[address])
		}
	}
	return stacks, joined
}

// TestKeys checks that a definition holds for the references before it, and that a reused key has another stack.
func TestKeys(t *testing.T) {
	stacks, joined := stacksOf(t, session(0))
	for address, want := range map[uint64][]uint64{
		0xA0: {0x77001, 0x77002}, 0xB0: {0x77003}, 0xA1: {0x77005}, 0xB1: {0x77004}, 0xA2: nil,
	} {
		if !slices.Equal(stacks[address], want) {
			t.Errorf("block %#x: %x, want %x", address, stacks[address], want)
		}
	}
	if joined.KeysLost != 0 || joined.Unclaimed != 0 {
		t.Errorf("%d keys lost, %d unclaimed", joined.KeysLost, joined.Unclaimed)
	}
}

// TestFragments joins a part in the kernel and a part of the process, delivered by another CPU and much later; the
// canonical id is that of the whole.
func TestFragments(t *testing.T) {
	const kernel = 0xFFFFF80000000000
	file := newTiny(nil).
		add(0, 1, alloc(2000, 1), stack(2001, 2000, kernel+1, kernel+2), alloc(2100, 2)).
		add(1, 2, stack(2000+4_000_000, 2000, 0x77001), stack(2000+4_000_001, 2100, kernel+1, kernel+2, 0x77001)).file
	stacks, joined := stacksOf(t, file)
	want := []uint64{kernel + 1, kernel + 2, 0x77001}
	if !slices.Equal(stacks[1], want) || !slices.Equal(stacks[2], want) {
		t.Errorf("%x", stacks)
	}
	ids := map[etl.StackID]bool{}
	for id := range joined.Stacks.Len() {
		if id := etl.StackID(id); slices.Equal(joined.Stacks.Append(nil, id), want) {
			ids[joined.Stacks.Canonical(id)] = true
		}
	}
	if len(ids) != 1 {
		t.Errorf("one stack has the canonical ids %v", ids)
	}
}

// TestMissingStacks checks what is said about keys that nothing defines, stacks that belong to nothing, and operations
// without stack.
func TestMissingStacks(t *testing.T) {
	stacks, joined := stacksOf(t,
		newTiny(nil).add(0, 1, alloc(2000, 1), alloc(2001, 2), key(2010, 2000, 5), stack(2011, 1999, 0x77001)).file)
	if len(stacks[1]) != 0 || joined.KeysLost != 1 || joined.Unclaimed != 1 ||
		joined.Stacked[etl.KindHeapAlloc] != (etl.StackCoverage{Operations: 2, WithStack: 1}) {
		t.Errorf("%x, %d keys lost, %d unclaimed, %+v", stacks, joined.KeysLost, joined.Unclaimed,
			joined.Stacked[etl.KindHeapAlloc])
	}
	codes := map[string]int64{}
	for _, w := range joined.Warnings() {
		codes[string(w.Code)] = w.Count
	}
	for _, code := range []string{"stack-key-lost", "stack-missing", "no-image-info"} {
		if codes[code] != 1 {
			t.Errorf("warnings %v, want one of %s", codes, code)
		}
	}
}
