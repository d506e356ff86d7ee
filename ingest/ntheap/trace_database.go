package ntheap

// findDatabase looks for the database of stacks, _STACK_TRACE_DATABASE, which begins a private reservation. Blocks of
// Windows XP and 2003, and those with a value of the program's, have but the number of their stack: the database has an
// array of addresses that grows downwards from its end. It says itself where it begins (CommitBase), and what its first
// number leads to lies in it.
func (o *opening) findDatabase() error {
	if !o.hs.StackTraces && !o.hs.blind {
		return nil
	}
	n := lookup{types: o.hs.layouts[0].types}
	const database = "_STACK_TRACE_DATABASE"
	base, array := n.at(database, "CommitBase"), n.at(database, "EntryIndexArray")
	if n.missing != "" {
		return nil
	}
	for _, at := range o.p.Candidates {
		if err := o.ctx.Err(); err != nil {
			return err
		}
		own, _ := o.w.pointer(at + base)
		if own != at {
			continue
		}
		end, _ := o.w.pointer(at + array)
		if first, ok := o.w.pointer(end - o.w.pointerSize()); ok && end > at && first >= at && first < end {
			o.hs.indexEnd = end
			return nil
		}
	}
	return nil
}

// numbered is the address of the stack trace of a number, 0 where it is not known.
func (hs *SideHeaps) numbered(w *window, number uint16) uint64 {
	if hs.indexEnd == 0 || number == 0 {
		return 0
	}
	trace, _ := w.pointer(hs.indexEnd - uint64(number)*w.pointerSize())
	return trace
}

// indexed is the stack of a block that ends in a _HEAP_ENTRY_EXTRA, whose first two bytes are its number.
func (n *ntWalk) indexed(extra uint64) uint64 {
	number, ok := n.near.u16(extra)
	if !ok {
		n.unread.add(extra)
	}
	return n.heaps.numbered(n.near, number)
}
