package umdhtest

import (
	"bufio"
	"fmt"
	"io"
)

// WriteSnapshot writes the log of umdh -p: header, modules, and every block of every heap; a stack only at its
// first block.
func (p *Process) WriteSnapshot(w io.Writer, s *Snapshot) error {
	out := bufio.NewWriterSize(w, 256<<10)
	p.header(out, s)
	listed := make([]bool, len(p.Stacks))
	var line []byte
	for h := range s.Heaps {
		heap := &s.Heaps[h]
		fmt.Fprintf(out, "*- - - - - - - - - - Start of data for heap @ %X - - - - - - - - - -\r\n\r\n", heap.Handle)
		fmt.Fprintf(out, "REQUESTED bytes + OVERHEAD at ADDRESS by BackTraceID\r\n     STACK if not already dumped.\r\n\r\n")
		fmt.Fprintf(out, "*- - - - - - - - - - Heap %X Hogs - - - - - - - - - -\r\n\r\n", heap.Handle)
		for i := range heap.Blocks {
			b := &heap.Blocks[i]
			id, fresh := uint64(0), false
			if b.Stack >= 0 {
				id, fresh = p.Stacks[b.Stack].ID, !listed[b.Stack]
			}
			line = line[:0]
			if fresh {
				line = append(line, "\r\n"...)
			}
			line = append(appendHex(line, b.Requested), " bytes + "...)
			line = append(appendHex(line, b.Overhead), " at "...)
			line = append(appendHex(line, b.Address), " by BackTrace"...)
			line = append(appendHex(line, id), "\r\n"...)
			if fresh {
				listed[b.Stack] = true
				line = append(p.Stacks[b.Stack].append(line), "\r\n"...)
			}
			if _, err := out.Write(line); err != nil {
				return fmt.Errorf("umdhtest: write snapshot: %w", err)
			}
		}
		fmt.Fprintf(out, "\r\n*- - - - - - - - - - End of data for heap @ %X - - - - - - - - - -\r\n\r\n", heap.Handle)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("umdhtest: write snapshot: %w", err)
	}
	return nil
}

func (p *Process) header(out *bufio.Writer, s *Snapshot) {
	major, minor := 0, 0
	_, _ = fmt.Sscanf(p.UMDHVersion, "%d.%d", &major, &minor) // zeros will do
	fmt.Fprintf(out, "// \r\n// UMDH: version %s: Logtime %s - Machine=%s - PID=%d\r\n// \r\n\r\n", p.UMDHVersion,
		s.Time.Format("2006-01-02 15:04"), p.Machine, p.PID)
	fmt.Fprintf(out, "// Debug privilege has been enabled.\r\n// OS version %d.%d \r\n// Umdh OS version %d.%d\r\n// \r\n",
		major, minor, major, minor)
	fmt.Fprintf(out, "// Preparing to dump heap allocations.\r\n")
	fmt.Fprintf(out, "// Only allocations for which the heap manager collected a stack are dumped. Allocations whithout stack are ignored.\r\n")
	fmt.Fprintf(out, "// The stack trace for an allocation is dumped as a list of addresses. They will be resolved to function names at compare time.\r\n// \r\n")
	fmt.Fprintf(out, "// Connecting to process %d ...\r\n// Process %d opened handle=208.\r\n// Loaded modules: \r\n//     Base Size Module\r\n", p.PID, p.PID)
	for _, m := range p.Modules {
		fmt.Fprintf(out, "//    %16X %8X %s\r\n", m.Base, m.Size, m.Path)
	}
	fmt.Fprintf(out, "//\r\n// Process modules enumerated.\r\n// Debug library initialized ...\r\n")
	for i := range p.Modules {
		if m := &p.Modules[i]; m.name() == "ntdll" {
			p.banner(out, m)
		}
	}
	fmt.Fprintf(out, "\r\n")
}

// banner writes what dbghelp says about a module's symbols, two blanks behind public ones and one behind private
// ones included.
func (p *Process) banner(out *bufio.Writer, m *Module) {
	indent := "         "
	if p.modern() {
		indent = "        "
		fmt.Fprintf(out, "%X-%X ", m.Base, m.Base+m.Size-1)
	}
	blanks := map[string]string{PrivateSymbols: " ", PublicSymbols: "  "}
	fmt.Fprintf(out, "DBGHELP: %s - %s%s\r\n", m.name(), m.Symbols, blanks[m.Symbols])
	if m.PDB != "" {
		fmt.Fprintf(out, "%s%s\r\n", indent, m.PDB)
	}
}

// append adds the addresses of the stack and of its aliases.
func (s *Stack) append(line []byte) []byte {
	for i, frames := range append([][]Frame{s.Frames}, s.AliasStacks...) {
		if i > 0 {
			line = append(line, "\tAlias\r\n"...)
		}
		for k := range frames {
			line = append(appendHex(append(line, '\t'), frames[k].Address), "\r\n"...)
		}
	}
	return line
}

// appendHex adds a number as umdh prints it in a snapshot: upper-case and without zeros before it.
func appendHex(line []byte, v uint64) []byte {
	const digits = "0123456789ABCDEF"
	var reversed [16]byte
	n := 0
	for {
		reversed[n] = digits[v&15]
		n++
		if v >>= 4; v == 0 {
			break
		}
	}
	for n--; n >= 0; n-- {
		line = append(line, reversed[n])
	}
	return line
}
