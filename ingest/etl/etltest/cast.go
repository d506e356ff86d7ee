package etltest

import (
	"fmt"
	"math/rand/v2"
)

// cast makes up the processes that were there before a trace: the kernel's, and an old one.
func cast(bits int) []Process {
	system := Process{PID: 4, Bits: bits, Name: "System", SID: SID(18), Key: 0xFFFFE00000000080, Images: []Image{
		{Path: `\SystemRoot\system32\ntoskrnl.exe`, Base: 0xFFFFF80312000000, Size: 0x1046000, Stamp: 0x1C9DBD29,
			Checksum: 0xA6BD12, PDB: "ntkrnlmp.pdb", GUID: NewGUID(0x81BC5C37, 0x7C52, 0x6450, 0x5F9958F209C52701), Age: 1},
	}, Threads: []Thread{{TID: 8}}}
	services := Process{PID: 612, Parent: 4, Bits: bits, Name: "services.exe", Key: 0xFFFFE00000012080,
		Threads: []Thread{{TID: 616, Name: "control"}}}
	if bits == 32 {
		system.Images[0].Base = 0x82000000
	}
	return []Process{system, services}
}

// application makes up a process with the modules that every process has, and one of its own.
func application(rng *rand.Rand, pid uint32, bits int, name string) Process {
	p := Process{
		PID: pid, Parent: 612, Session: 1, Bits: bits, Name: name, SID: SID(21, rng.Uint32(), rng.Uint32(), 1001),
		CommandLine: fmt.Sprintf(`"C:\Program Files\Made Up\%s" --grüße`, name),
		Key:         0xFFFFE00100000080 + uint64(rng.Uint32())<<8,
		Threads:     []Thread{{TID: pid + 4, Name: "main"}, {TID: pid + 8, Name: "Arbeiter äöü"}},
	}
	base, gap := uint64(0x7FF600000000), uint64(0x1000000)
	folder := "System32"
	if bits == 32 {
		base, gap, folder = 0x400000, 0x1000000, "SysWOW64"
	}
	for i, file := range []string{`Program Files\Made Up\` + name, `Windows\` + folder + `\ucrtbase.dll`, `Windows\` +
		folder + `\KERNELBASE.dll`, `Windows\` + folder + `\ntdll.dll`} {
		m := Image{Path: `\Device\HarddiskVolume3\` + file, Base: base + uint64(i)*gap, Size: 0x200000,
			Stamp: rng.Uint32(), Checksum: rng.Uint32()}
		if i != 2 { // one without a PDB
			m.PDB, m.GUID, m.Age = fmt.Sprintf("part%d.pdb", i),
				NewGUID(rng.Uint32(), uint16(pid), 0x4444, rng.Uint64()), 1+uint32(i)
		}
		p.Images = append(p.Images, m)
	}
	return p
}

// walk makes up a stack of a process: the allocator, calls of its own, the start of a thread.
func (p *Process) walk(rng *rand.Rand, frames int) Stack {
	in := func(image int, offset uint64) uint64 { return p.Images[image].Base + 0x1000 + offset }
	user := []uint64{in(3, 0x1F3), in(1, uint64(rng.IntN(4))*0x57)}
	for range max(1, frames-4) {
		user = append(user, in(0, uint64(rng.IntN(1<<12))*5))
	}
	return Stack{User: append(user, in(2, 0x99), in(3, 0x2A1))}
}
