package livesnapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/minidump"
	"heapdrift/ingest/minidump/minidumptest"
)

// overlay serves bytes of its own at some addresses, and the dump elsewhere.
func overlay(target *dumpTarget, at map[uint64][]byte) {
	memory := target.dump.Memory()
	target.read = func(p []byte, addr uint64) (int, error) {
		n, err := memory.ReadMemory(p, addr)
		for from, b := range at {
			for i := range b {
				if a := from + uint64(i); a >= addr && a < addr+uint64(n) {
					p[a-addr] = b[i]
				}
			}
		}
		return n, err
	}
}

func pointer(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

// A list of modules that leads in a circle, outside of memory or to nonsense ends; images are found without it.
func TestHostileLoaderLists(t *testing.T) {
	heaps := func() (*dumpTarget, uint64, uint64) {
		target := victim(t)
		_, c := taken(t, target)
		place := uint64(0) // writable memory for the lists: a large block
		for b := range c.Blocks.All() {
			if b.Size > 0x400 && b.Address%16 == 0 {
				place = b.Address
			}
		}
		if place == 0 {
			t.Fatal("no large block")
		}
		return target, target.known.PEB, place
	}
	entry := func(next, base uint64, size uint32, length uint16, path uint64) []byte {
		b := make([]byte, 0x88)
		copy(b, pointer(next))
		copy(b[0x30:], pointer(base))
		binary.LittleEndian.PutUint32(b[0x40:], size)
		binary.LittleEndian.PutUint16(b[0x48:], length)
		copy(b[0x50:], pointer(path))
		return b
	}
	type bytesAt = map[uint64][]byte
	for name, list := range map[string]func(at uint64, image minidump.Region) bytesAt{
		"itself": func(at uint64, _ minidump.Region) bytesAt {
			return bytesAt{at + 0x10: pointer(at + 0x100), at + 0x100: entry(at+0x100, 0, 0, 0, 0)}
		},
		"a circle": func(at uint64, _ minidump.Region) bytesAt {
			return bytesAt{at + 0x10: pointer(at + 0x100), at + 0x100: entry(at+0x200, 0x1234, 1, 65535, at),
				at + 0x200: entry(at+0x100, 0x4321, 1, 65535, at)}
		},
		"nowhere": func(at uint64, _ minidump.Region) bytesAt {
			return bytesAt{at + 0x10: pointer(math.MaxUint64 - 7)}
		},
		"a wild base": func(at uint64, _ minidump.Region) bytesAt {
			return bytesAt{at + 0x10: pointer(at + 0x100),
				at + 0x100: entry(at+0x200, math.MaxUint64, math.MaxUint32, 9, math.MaxUint64),
				at + 0x200: entry(0, 1<<63, math.MaxUint32, 0, 0)}
		},
		"a large size": func(at uint64, image minidump.Region) bytesAt {
			return bytesAt{at + 0x10: pointer(at + 0x100), at + 0x100: entry(at+0x10, image.Base, math.MaxUint32, 65535, at)}
		},
	} {
		target, peb, place := heaps()
		var image minidump.Region
		sizes := map[uint64]uint64{}
		for _, r := range target.regions {
			if r.Type == minidump.MemImage {
				sizes[r.Base] = r.Size
				image = r
			}
		}
		at := list(place, image)
		at[peb+0x18] = pointer(place)
		overlay(target, at)
		_, c := taken(t, target)
		for _, m := range c.Modules {
			if sizes[m.Base] == 0 || m.Size > sizes[m.Base] {
				t.Errorf("%s: module %+v; the image has %#x bytes", name, m, sizes[m.Base])
			}
		}
		if len(c.Modules) != len(sizes) {
			t.Errorf("%s: %d modules, want %d", name, len(c.Modules), len(sizes))
		}
		stored(t, c)
	}
}

// stored fails the test where a capture cannot be stored and read again.
func stored(t *testing.T, c *capture.Capture) {
	t.Helper()
	var b bytes.Buffer
	if err := c.Write(&b); err != nil {
		t.Fatal(err)
	}
	if _, err := capture.Read(&b); err != nil {
		t.Error(err)
	}
}

// Memory with random bits flipped in the PEB, the TEB and everywhere else gives a capture that can be stored, or an
// error with a code.
func TestFlippedMemory(t *testing.T) {
	for seed := range uint64(60) {
		target := victim(t)
		r := rand.New(rand.NewPCG(seed, 42))
		memory, every := target.dump.Memory(), 1+r.IntN(2000)
		target.read = func(p []byte, addr uint64) (int, error) {
			n, err := memory.ReadMemory(p, addr)
			for i := range n {
				a := addr + uint64(i)
				near := a-target.known.PEB < pageBytes || a-target.threads[0].TEB < pageBytes
				if h := (a ^ seed) * 0x9E3779B97F4A7C15 >> 40; near && h%16 == 0 || h%uint64(every) == 0 {
					p[i] ^= 1 << (h >> 20 & 7)
				}
			}
			return n, err
		}
		c, err := newSession(target, 42, &Options{}).take(t.Context())
		var refused *Error
		switch {
		case err == nil:
			stored(t, c)
		case !errors.As(err, &refused) || refused.Code == "":
			t.Errorf("seed %d: %v", seed, err)
		}
		if target.resumed.Load() != 1 {
			t.Errorf("seed %d: resumed %d times", seed, target.resumed.Load())
		}
	}
}

// Answers of VirtualQueryEx that lead nowhere end the list.
func TestHostileRegions(t *testing.T) {
	for name, test := range map[string]struct {
		answer func(addr uint64) (minidump.Region, error)
		want   int
	}{
		"no bytes": {func(addr uint64) (minidump.Region, error) { return minidump.Region{Base: addr}, nil }, 0},
		"behind":   {func(addr uint64) (minidump.Region, error) { return minidump.Region{Base: addr + 1, Size: 1}, nil }, 0},
		"before":   {func(addr uint64) (minidump.Region, error) { return minidump.Region{Size: 1}, nil }, 1},
		"beyond": {func(addr uint64) (minidump.Region, error) {
			return minidump.Region{Base: addr, Size: math.MaxUint64}, nil
		}, 1},
		"from anywhere": {func(addr uint64) (minidump.Region, error) { return minidump.Region{Size: addr + 1<<62}, nil }, 3},
	} {
		target := victim(t)
		target.query = test.answer
		list, err := listRegions(t.Context(), target)
		if err != nil || len(list) != test.want {
			t.Errorf("%s: %d regions, want %d, %v", name, len(list), test.want, err)
		}
		for i := 1; i < len(list); i++ {
			if list[i].Base != list[i-1].Base+list[i-1].Size {
				t.Errorf("%s: %+v overlap", name, list)
			}
		}
	}
	target := victim(t)
	target.query = func(uint64) (minidump.Region, error) { return minidump.Region{}, errors.New("the process has ended") }
	_, err := newSession(target, 42, &Options{}).take(t.Context())
	var refused *Error
	if !errors.As(err, &refused) || refused.Code != CodeRead || target.resumed.Load() != 1 {
		t.Errorf("%v", err)
	}
}

// An image that no loader lists is a module where anything names it: the file that it is mapped from, or else its PDB.
func TestImagesThatNoLoaderLists(t *testing.T) {
	target := victim(t)
	var bases []uint64
	for _, r := range target.regions {
		if r.Type == minidump.MemImage {
			bases = append(bases, r.Base)
		}
	}
	if len(bases) < 3 {
		t.Fatalf("%d images", len(bases))
	}
	names := minidumptest.Image{Bits: 64, PDB: `C:\build\plugin.pdb`, GUID: [16]byte{1}, Age: 1}.Bytes()
	mapped, named, nameless := bases[0], bases[1], bases[2]
	target.files = map[uint64]string{mapped: `C:\app\mapped.dll`}
	overlaid := target.dump.Memory()
	target.read = func(p []byte, addr uint64) (int, error) {
		for base, image := range map[uint64][]byte{mapped: names, named: names, nameless: make([]byte, len(names))} {
			if addr-base < uint64(len(image)) {
				return copy(p, image[addr-base:]), nil
			}
		}
		return overlaid.ReadMemory(p, addr)
	}
	_, c := taken(t, target)
	paths := map[uint64]string{}
	for _, m := range c.Modules {
		paths[m.Base] = m.Path
	}
	if paths[mapped] != `C:\app\mapped.dll` || paths[named] != `C:\build\plugin.pdb` {
		t.Errorf("paths %v", paths)
	}
	if path, listed := paths[nameless]; listed {
		t.Errorf("an image without a name is listed as %q", path)
	}
}
