// Package heapprofiletest writes heap profiles as jemalloc, gperftools, mimalloc and tcmalloc do, of processes that are
// invented. Which blocks a sampling profiler records depends on the seed alone: a block that is recorded stays recorded
// until it is freed.
package heapprofiletest

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"math"
	"strings"

	"github.com/google/pprof/profile"
)

// A Module is an image in the process.
type Module struct {
	Path       string // of its file
	Base, Size uint64
}

// A Frame is a return address, and the functions there.
type Frame struct {
	Module    int      // index into Process.Modules
	Offset    uint64   // of the return address from the module's base
	Functions []string // the innermost first: those before the last are inlined
}

// A Site is a call stack that allocates blocks of one size. Its live blocks are those with the numbers from First to
// Next−1.
type Site struct {
	Stack       []Frame // the innermost frame first
	Size        int64   // bytes of each block
	First, Next int     // Next is exclusive
}

// A Process is a process at one moment.
type Process struct {
	PID     int
	Modules []Module
	Sites   []Site
	Rate    int64  // bytes from one recorded allocation to the next, on average; 0 records all
	Seed    uint64 // decides which blocks the profiler records
	Windows bool   // its modules are printed as on Windows
}

// recorded counts the live blocks of a site that are recorded.
func (p *Process) recorded(site int) (n int64) {
	s := &p.Sites[site]
	if p.Rate <= 1 {
		return int64(s.Next - s.First)
	}
	seen := 1 - math.Exp(-float64(s.Size)/float64(p.Rate))
	for k := s.First; k < s.Next; k++ {
		h := fnv.New64a()
		_, _ = fmt.Fprint(h, p.Seed, ".", site, ".", k) // writing to a hash does not fail
		x := h.Sum64()
		x = (x ^ x>>31) * 0x9E3779B97F4A7C15
		if float64(x>>11)/(1<<53) < seen {
			n++
		}
	}
	return n
}

func (p *Process) address(f Frame) uint64 { return p.Modules[f.Module].Base + f.Offset }

// Recorded is how many live blocks the profiler records, and their bytes in size.
func (p *Process) Recorded() (blocks, size int64) {
	for i := range p.Sites {
		n := p.recorded(i)
		blocks, size = blocks+n, size+n*p.Sites[i].Size
	}
	return blocks, size
}

// Jemalloc writes the text of jemalloc, with the numbers of two threads.
func (p *Process) Jemalloc() string {
	var b strings.Builder
	blocks, size := p.Recorded()
	fmt.Fprintf(&b, "heap_v2/%d\n  t*: %d: %d [0: 0]\n  t0: %d: %d [0: 0] main\n  t1: 0: 0 [0: 0]\n", p.Rate, blocks, size, blocks, size)
	for i := range p.Sites {
		n := p.recorded(i)
		if n == 0 {
			continue
		}
		b.WriteString("@")
		for _, f := range p.Sites[i].Stack {
			fmt.Fprintf(&b, " %#x", p.address(f))
		}
		fmt.Fprintf(&b, "\n  t*: %d: %d [0: 0]\n  t0: %d: %d [0: 0]\n", n, n*p.Sites[i].Size, n, n*p.Sites[i].Size)
	}
	if !p.Windows {
		b.WriteString("\nMAPPED_LIBRARIES:\n" + p.Maps())
	}
	return b.String()
}

// Gperftools writes the text of gperftools: heapprofile, or heap_v2 with a rate.
func (p *Process) Gperftools() string {
	var b strings.Builder
	blocks, size := p.Recorded()
	word := "heapprofile"
	if p.Rate > 0 {
		word = fmt.Sprintf("heap_v2/%d", p.Rate)
	}
	fmt.Fprintf(&b, "heap profile: %6d: %8d [%6d: %8d] @ %s\n", blocks, size, 3*blocks, 3*size, word)
	for i := range p.Sites {
		n := p.recorded(i)
		fmt.Fprintf(&b, "%6d: %8d [%6d: %8d] @", n, n*p.Sites[i].Size, 3*n, 3*n*p.Sites[i].Size)
		for _, f := range p.Sites[i].Stack {
			fmt.Fprintf(&b, " 0x%08x", p.address(f))
		}
		b.WriteString("\n")
	}
	return b.String() + "\nMAPPED_LIBRARIES:\n" + p.Maps()
}

// Symbolized writes what jeprof --raw makes of a text: names in front of it. The addresses are those of calls, but for
// the innermost frame; inlined functions stand behind their callers.
func (p *Process) Symbolized(text string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "--- symbol\nbinary=%s\n", p.Modules[0].Path)
	seen := map[uint64]bool{}
	for i := range p.Sites {
		for k, f := range p.Sites[i].Stack {
			address := p.address(f)
			if k > 0 {
				address--
			}
			if seen[address] || len(f.Functions) == 0 {
				continue
			}
			seen[address] = true
			outward := make([]string, 0, len(f.Functions))
			for n := range f.Functions {
				outward = append(outward, f.Functions[len(f.Functions)-1-n])
			}
			fmt.Fprintf(&b, "0x%016x %s\n", address, strings.Join(outward, "--"))
		}
	}
	return b.String() + "---\n--- heap\n" + text
}

// Maps writes the list of modules: of Linux with the segments of each, of Windows one line for each.
func (p *Process) Maps() string {
	var b strings.Builder
	for i, m := range p.Modules {
		if p.Windows {
			fmt.Fprintf(&b, "%08x-%08x r-xp 00000000 00:00 0           %s\n", m.Base, m.Base+m.Size, m.Path)
			continue
		}
		code := m.Size / 4096 / 4 * 4096
		for _, s := range []struct {
			from, to uint64
			perms    string
		}{{0, code, "r--p"}, {code, m.Size - 8192, "r-xp"}, {m.Size - 8192, m.Size, "rw-p"}} {
			fmt.Fprintf(&b, "%08x-%08x %s %08x 08:01 %-11d                %s\n", m.Base+s.from, m.Base+s.to, s.perms, s.from, 1000+i, m.Path)
		}
		if i == 0 {
			b.WriteString("55d0c2000000-55d0c2100000 rw-p 00000000 00:00 0                          [heap]\n")
		}
	}
	if !p.Windows {
		b.WriteString("7f20f0000000-7f20f0021000 rw-p 00000000 00:00 0 \n" +
			"7f20f1000000-7f20f1200000 r--p 00000000 08:01 77                         /usr/lib/locale/locale-archive\n" +
			"7ffd3a1f6000-7ffd3a1f8000 r-xp 00000000 00:00 0                          [vdso]\n")
	}
	return b.String()
}

// A Writer is whose profile.proto it is.
type Writer int

// The writers of profile.proto.
const (
	Tcmalloc Writer = iota // estimates of objects and space
	Go                     // estimates, beside what was ever allocated
	Mimalloc               // recorded blocks, beside what was ever allocated; the bytes are inuse_bytes
)

// Proto writes profile.proto, unpacked, at a time in nanoseconds since 1970; names are those of the functions, if any.
func (p *Process) Proto(w Writer, at int64, names bool) []byte {
	out := &profile.Profile{TimeNanos: at, Period: p.Rate, PeriodType: &profile.ValueType{Type: "space", Unit: "bytes"}}
	for _, name := range [][]string{{"objects", "space"}, {"alloc_objects", "alloc_space", "inuse_objects", "inuse_space"},
		{"alloc_objects", "alloc_bytes", "inuse_objects", "inuse_bytes"}}[w] {
		out.SampleType = append(out.SampleType, &profile.ValueType{Type: name, Unit: "count"})
	}
	for i, m := range p.Modules {
		out.Mapping = append(out.Mapping, &profile.Mapping{ID: uint64(i + 1), Start: m.Base, Limit: m.Base + m.Size,
			File: m.Path})
	}
	functions, locations := map[string]*profile.Function{}, map[uint64]*profile.Location{}
	for i := range p.Sites {
		s := &p.Sites[i]
		n := p.recorded(i)
		live := []int64{n, n * s.Size}
		if w != Mimalloc && p.Rate > 1 && n > 0 {
			seen := 1 - math.Exp(-float64(s.Size)/float64(p.Rate))
			live = []int64{int64(math.Round(float64(n) / seen)), int64(math.Round(float64(n*s.Size) / seen))}
		}
		sample := &profile.Sample{Value: live}
		if w != Tcmalloc {
			sample.Value = []int64{3 * live[0], 3 * live[1], live[0], live[1]}
		}
		for _, f := range s.Stack {
			address := p.address(f)
			l := locations[address]
			if l == nil {
				l = &profile.Location{ID: uint64(len(locations) + 1), Mapping: out.Mapping[f.Module], Address: address}
				locations[address] = l
				out.Location = append(out.Location, l)
				for _, name := range f.Functions {
					if names {
						line := profile.Line{Function: functionOf(out, functions, name)}
						if p.isOwn(f.Module) {
							line.Function.Filename, line.Line = "/src/app/cache.cpp", int64(f.Offset%100)
						}
						l.Line = append(l.Line, line)
					}
				}
			}
			sample.Location = append(sample.Location, l)
		}
		out.Sample = append(out.Sample, sample)
	}
	var b bytes.Buffer
	if err := out.WriteUncompressed(&b); err != nil {
		panic(err) // the profile is made above
	}
	return b.Bytes()
}

// isOwn reports whether a module is one that the program's authors build, with lines.
func (p *Process) isOwn(module int) bool { return module == 0 || module == 3 }

func functionOf(out *profile.Profile, known map[string]*profile.Function, name string) *profile.Function {
	f := known[name]
	if f == nil {
		f = &profile.Function{ID: uint64(len(known) + 1), Name: name, SystemName: name}
		known[name] = f
		out.Function = append(out.Function, f)
	}
	return f
}
