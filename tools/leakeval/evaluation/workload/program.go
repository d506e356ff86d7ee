package workload

import (
	"fmt"

	"heapdrift/ingest/capture"
)

// The images of a process. Each stack leads through two functions of its own, so that its signature is its own.
const (
	imageBase   = 0x7FF6_0000_0000
	imageGap    = 0x100_0000
	imageSize   = 0x20_0000
	programName = "workload.exe"
	pid         = 4711
)

var imagePaths = [...]string{`C:\Program Files\Workload\` + programName, `C:\Windows\System32\KERNEL32.DLL`,
	`C:\Windows\System32\ntdll.dll`}

const (
	inProgram = iota
	inKernel32
	inNtdll
)

// Places of functions in their images.
const (
	allocateAt  = 0x1234 // in ntdll
	startAt     = 0x4321 // in kernel32
	ownerAt     = 0xC00  // from the functions of a stack on: where it makes objects
	firstAt     = 0x1000 // in the program: of the first stack
	betweenThem = 0x1000
)

func address(image int, rva uint64) uint64 { return imageBase + uint64(image)*imageGap + rva }

// frames are the return addresses of a stack, innermost first.
func (p *Process) frames(stack int) []uint64 {
	if p.oneStack {
		stack = p.Stacks[stack].Object
	}
	at := uint64(firstAt + stack*betweenThem)
	list := []uint64{address(inNtdll, allocateAt), address(inProgram, at)}
	if owner := p.Stacks[stack].owner; owner >= 0 {
		list = append(list, address(inProgram, uint64(firstAt+owner*betweenThem+ownerAt)))
	}
	return append(list, address(inProgram, at+0x800), address(inKernel32, startAt))
}

// Title is the function that allocates on the stack with this index, as a report with symbols names it.
func Title(stack int) string { return fmt.Sprintf("Stack%d::Allocate", stack) }

// names are the symbols of the images.
func (p *Process) names() *capture.Names {
	image := func(file string) capture.Image {
		return capture.Image{ImageID: capture.ImageID{File: file, Size: imageSize}, Symbols: capture.SymbolsPrivate,
			Proven: true, Own: file == programName}
	}
	program, kernel32, ntdll := image(programName), image("kernel32.dll"), image("ntdll.dll")
	ntdll.Add(allocateAt, capture.NamedFrame{Function: "RtlAllocateHeap", Offset: 0x54})
	kernel32.Add(startAt, capture.NamedFrame{Function: "BaseThreadInitThunk", Offset: 0x14})
	if p.Nameless {
		program.Symbols, program.Proven = capture.SymbolsNone, false
	}
	for i := range p.Stacks {
		if p.Nameless {
			break
		}
		at := uint32(firstAt + i*betweenThem)
		program.Add(at, capture.NamedFrame{Function: Title(i), Offset: 0x20})
		program.Add(at+0x800, capture.NamedFrame{Function: fmt.Sprintf("Stack%d::Run", i), Offset: 0x30})
		program.Add(at+ownerAt, capture.NamedFrame{Function: fmt.Sprintf("Stack%d::Make", i), Offset: 0x40})
	}
	n := &capture.Names{Images: []capture.Image{program, kernel32, ntdll}}
	n.Sort()
	return n
}
