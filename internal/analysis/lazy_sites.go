package analysis

// lazySites makes the parts of a report's sites that most callers do not read, from what the sites were judged by.
type lazySites struct {
	sites      []*judgedSite // in the order of the report
	snapshots  []Snapshot
	written    int  // sites that have their text
	identified bool // all have their Keys
}

// write adds its text to a copy of a site, unless it has it.
func (l *lazySites) write(i int, out *Site) {
	if i >= l.written {
		l.sites[i].write(out, l.snapshots)
	}
}

// identify gives the sites of the report their Keys.
func (l *lazySites) identify(list []Site) {
	if l.identified {
		return
	}
	identify(l.sites)
	for i, site := range l.sites {
		list[i].StackKey = site.stackKey
	}
	l.identified = true
}
