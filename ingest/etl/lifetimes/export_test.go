package lifetimes

// Sites are all sites met so far.
func (t *Tracker) Sites() []Site {
	sites := make([]Site, t.SiteCount())
	for i := range sites {
		sites[i] = t.Site(i)
	}
	return sites
}

// Heaps are the heaps met so far, in the order they were met.
func (t *Tracker) Heaps() []Heap {
	heaps := make([]Heap, t.heaps.len())
	for i := range heaps {
		heaps[i] = t.heapAt(uint32(i))
	}
	return heaps
}

// Processes are the process instances with events of memory met so far, in the order they were met.
func (t *Tracker) Processes() []Process {
	processes := make([]Process, t.processes.len())
	for i := range processes {
		processes[i] = t.processAt(uint32(i))
	}
	return processes
}

// LiveBlocks is how many heap blocks are alive.
func (t *Tracker) LiveBlocks() int {
	n := 0
	for i := range uint32(t.heaps.len()) {
		n += t.heaps.at(i).index.n
	}
	return n
}
