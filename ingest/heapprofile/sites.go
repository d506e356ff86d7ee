package heapprofile

import "heapdrift/ingest/capture"

// A siteList has the sites of a profile, one for each stack.
type siteList struct {
	stacks *capture.Stacks
	at     []int32 // by StackID: 1 + the place in sites; 0 for none
	sites  []capture.Site
	frames int   // of all stacks
	lost   int64 // blocks of stacks that there was no room for
}

func newSiteList() siteList { return siteList{stacks: &capture.Stacks{}} }

// add counts live blocks of a stack in.
func (l *siteList) add(stack []capture.FrameID, held capture.Usage) {
	if len(l.sites) == mostSites || l.frames+len(stack) > mostStored {
		l.lost += held.Count
		return
	}
	id := l.stacks.AddStack(stack)
	for int(id) >= len(l.at) {
		l.at = append(l.at, 0)
	}
	if l.at[id] == 0 {
		l.frames += len(stack)
		l.sites = append(l.sites, capture.Site{Stack: id, Heap: capture.NoHeap, Usage: make([]capture.Usage, 1)})
		l.at[id] = int32(len(l.sites))
	}
	u := &l.sites[l.at[id]-1].Usage[0]
	u.Count, u.Bytes = min(u.Count+held.Count, mostHeld), min(u.Bytes+held.Bytes, mostHeld)
}
