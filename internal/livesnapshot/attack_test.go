package livesnapshot

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/dump/dumptest"
	"heapdrift/ingest/minidump"
	"heapdrift/ingest/ntheap/ntheaptest"
)

// victim is a process with two heaps and stacks, as one that runs.
func victim(t testing.TB) *dumpTarget {
	t.Helper()
	p := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Seed: 11, Stacks: true, LFH: true, Heaps: 2,
		Segments: 2, Blocks: 300, Virtual: 1})
	target := serveDump(t, dumptest.Of(p, dumptest.Program{PID: 42}).Bytes())
	modules, err := target.dump.Modules()
	if err != nil {
		t.Fatal(err)
	}
	target.files = map[uint64]string{}
	for _, m := range modules {
		target.files[m.Base] = m.Path
	}
	return target
}

// taken takes a snapshot that succeeds.
func taken(t testing.TB, target target) (*session, *capture.Capture) {
	t.Helper()
	s := newSession(target, 42, &Options{})
	c, err := s.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

// sizes are the sizes of blocks by their addresses.
func sizes(c *capture.Capture) map[uint64]uint64 {
	all := map[uint64]uint64{}
	for b := range c.Blocks.All() {
		all[b.Address] = b.Size
	}
	return all
}

// within fails the test where a capture has a block that the process does not have, or one with another stack. A block
// that was listed before its end could be read has no stack, and the size that its entry tells.
func within(t *testing.T, got, whole *capture.Capture) {
	t.Helper()
	all, known := map[string]bool{}, sizes(whole)
	for _, line := range blockLines(whole) {
		all[line] = true
	}
	for _, line := range blockLines(got) {
		if all[line] {
			continue
		}
		at, err := strconv.ParseUint(line[:strings.IndexByte(line, ' ')], 0, 64)
		if _, isKnown := known[at]; err != nil || !isKnown || !strings.HasSuffix(line, "trace 0x0 []") {
			t.Errorf("the process has no block %s (%d bytes are known)", line, known[at])
			return
		}
	}
}

func warned(c *capture.Capture, code capture.Code, words string) bool {
	return slices.ContainsFunc(c.Warnings, func(w capture.Warning) bool {
		return w.Code == code && strings.Contains(w.Message, words)
	})
}

// pageInHeap is a page in the middle of the second half of the blocks.
func pageInHeap(all map[uint64]uint64) uint64 {
	addresses := slices.Sorted(maps.Keys(all))
	return addresses[len(addresses)*3/4] &^ (pageBytes - 1)
}

// Of a region that vanishes between the list and the read, the blocks are missing, and that is said.
func TestRegionVanishes(t *testing.T) {
	target := victim(t)
	_, whole := taken(t, target)
	all := sizes(whole)
	gone, err := target.Query(pageInHeap(all))
	if err != nil {
		t.Fatal(err)
	}
	target.read = func(p []byte, addr uint64) (int, error) {
		if addr+uint64(len(p)) > gone.Base && addr < gone.Base+gone.Size {
			return 0, errors.New("invalid access to memory location")
		}
		return target.dump.Memory().ReadMemory(p, addr)
	}
	var isListed atomic.Bool
	target.query = func(addr uint64) (minidump.Region, error) {
		if addr >= gone.Base && addr < gone.Base+gone.Size && isListed.Swap(true) {
			return minidump.Region{Base: gone.Base, Size: gone.Size, State: minidump.MemFree}, nil
		}
		return target.region(addr)
	}
	s, c := taken(t, target)
	got := sizes(c)
	within(t, c, whole)
	if cost := s.cost(); cost.Vanished != 1 || len(got) >= len(all) || len(got) == 0 ||
		!warned(c, capture.Unsupported, "vanished") ||
		!warned(c, capture.PartialHeap, "could not be walked") {
		t.Errorf("%d of %d blocks, %#v, %+v", len(got), len(all), cost, c.Warnings)
	}
}

// Of a piece in which one page cannot be read, the other pages are read.
func TestReadFailsInTheMiddle(t *testing.T) {
	for name, partial := range map[string]bool{"as Windows does": true, "or not at all": false} {
		target := victim(t)
		before, whole := taken(t, target)
		all := sizes(whole)
		bad := pageInHeap(all)
		target.read = func(p []byte, addr uint64) (int, error) {
			if addr >= bad+pageBytes || addr+uint64(len(p)) <= bad {
				return target.dump.Memory().ReadMemory(p, addr)
			}
			if partial && addr < bad {
				n, _ := target.dump.Memory().ReadMemory(p[:bad-addr], addr)
				return n, errors.New("partial copy")
			}
			return 0, errors.New("partial copy")
		}
		s, c := taken(t, target)
		got := sizes(c)
		within(t, c, whole)
		unread := s.cost().Unread - before.cost().Unread
		for at := range all {
			if _, ok := got[at]; !ok && (at+pageBytes < bad || at >= bad+2*pageBytes) {
				t.Errorf("%s: block %#x is missing; only the page at %#x cannot be read", name, at, bad)
				break
			}
		}
		if cost := s.cost(); unread != 1 || cost.Vanished != 0 || len(got) == len(all) ||
			!warned(c, capture.Unsupported, "did not let") {
			t.Errorf("%s: %d of %d blocks, %#v, %+v", name, len(got), len(all), cost, c.Warnings)
		}
	}
}

// limited is a session whose limit ends at the n-th read.
func limited(target *dumpTarget, n int64) *session {
	s := newSession(target, 42, &Options{})
	var expire func()
	s.pause.after = func(_ time.Duration, f func()) func() bool {
		expire = f
		return func() bool { return true }
	}
	var reads atomic.Int64
	target.read = func(p []byte, addr uint64) (int, error) {
		if reads.Add(1) == n {
			go expire()
			for s.pause.mu.TryRLock() { // until the limit waits for this read: no other begins before it has ended the pause
				s.pause.mu.RUnlock()
			}
		}
		return target.dump.Memory().ReadMemory(p, addr)
	}
	return s
}

// At the limit the process goes on at once, wherever the walk is; what has been read is right, and the rest is said.
func TestPauseLimit(t *testing.T) {
	s, whole := taken(t, victim(t))
	all := sizes(whole)
	reads, partial := s.cost().Reads, 0
	for n := int64(1); n < reads*9/10; n += max(1, reads/60) { // two walkers do not read the same pages each time
		target := victim(t)
		s := limited(target, n)
		c, err := s.take(t.Context())
		if target.suspended.Load() != 1 || target.resumed.Load() != 1 || !s.cost().LimitHit {
			t.Fatalf("at read %d: suspended %d times, resumed %d times, %#v", n, target.suspended.Load(),
				target.resumed.Load(), s.cost())
		}
		var refused *Error
		if errors.As(err, &refused) {
			if refused.Code != CodeLimit {
				t.Errorf("at read %d: %v", n, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got := sizes(c)
		within(t, c, whole)
		isCut := warned(c, capture.Truncated, "--pause-limit")
		if len(got) < len(all) && !isCut || isCut != c.Snapshots[0].LowerBound {
			t.Errorf("at read %d: %d of %d blocks, lower bound %t: %+v", n, len(got), len(all), c.Snapshots[0].LowerBound,
				c.Warnings)
		}
		if isCut && len(got) > 0 {
			partial++
		}
	}
	if partial == 0 {
		t.Error("no limit ended in the middle of the walk")
	}
}
