package query

// functionsOf numbers functions by number of frame: frames of one function differ in their lines.
func functionsOf(names []string) *naming {
	n := newNaming(len(names), func(frame int) string { return names[frame] })
	return &n
}

// merge counts other numbers in.
func (n *Numbers) merge(o *Numbers) {
	n.Held, n.Ended = n.Held.Plus(o.Held), n.Ended || o.Ended
	if o.Growth != nil {
		addTo(&n.Growth, *o.Growth)
	}
	if o.Allocated != nil {
		addTo(&n.Allocated, *o.Allocated)
		addTo(&n.Freed, *o.Freed)
		addTo(&n.Transient, *o.Transient)
	}
}

// Functions returns all functions on the stacks of the selection, sorted by a metric, the most first. A stack counts
// once in each of its functions, also where one calls itself.
func (r *Result) Functions(by Metric) []Group {
	f := r.index.functions()
	all, last := make([]Group, len(f.names)), make([]int, len(f.names))
	for i := range r.Sites {
		var n Numbers
		n.add(&r.Sites[i].Amounts)
		for _, frame := range r.index.report.Stacks.FrameNumbers(r.site(i).Stack) {
			name := f.of[frame]
			if last[name] == i+1 {
				continue
			}
			last[name] = i + 1
			all[name].Sites++
			all[name].merge(&n)
		}
	}
	return ranked(all, f.names, by)
}

// A Butterfly is a function between those that call it and those that it calls.
type Butterfly struct {
	Function Group `json:"function"`
	// Callers and Callees each add up to Function. One with the name "" stands for the stacks that begin, or end, with
	// the function.
	Callers []Group `json:"callers"`
	Callees []Group `json:"callees"`
}

// Butterfly returns the callers and callees of a function, given as module!function, sorted by a metric. Where it calls
// itself the outermost call counts, so that a stack counts once.
func (r *Result) Butterfly(by Metric, function string) *Butterfly {
	f, stacks := r.index.functions(), r.index.report.Stacks
	b := &Butterfly{Function: Group{Name: function}}
	var callers, callees groupsByName
	for i := range r.Sites {
		frames := stacks.FrameNumbers(r.site(i).Stack)
		at := lastOf(frames, r.index.names, function)
		if at < 0 {
			continue
		}
		var n Numbers
		n.add(&r.Sites[i].Amounts)
		b.Function.Sites++
		b.Function.merge(&n)
		caller, callee := "", ""
		if at+1 < len(frames) {
			caller = f.names[f.of[frames[at+1]]]
		}
		if at > 0 {
			callee = f.names[f.of[frames[at-1]]]
		}
		callers.count(caller, &n)
		callees.count(callee, &n)
	}
	b.Callers, b.Callees = callers.sorted(by), callees.sorted(by)
	return b
}

// groupsByName are groups as they are met.
type groupsByName struct {
	list []Group
	at   map[string]int
}

func (g *groupsByName) count(name string, n *Numbers) {
	i, ok := g.at[name]
	if !ok {
		if g.at == nil {
			g.at = map[string]int{}
		}
		i = len(g.list)
		g.at[name], g.list = i, append(g.list, Group{Name: name})
	}
	g.list[i].Sites++
	g.list[i].merge(n)
}

func (g *groupsByName) sorted(by Metric) []Group {
	list := append([]Group{}, g.list...)
	sortGroups(list, by)
	return list
}

// Cells makes Cells of the butterfly.
func (b *Butterfly) Cells() *Cells {
	c := &Cells{Columns: append([]string{"is", "function", "sites"}, numberColumns...)}
	for _, part := range []struct {
		is   string
		list []Group
	}{{"caller", b.Callers}, {"function", []Group{b.Function}}, {"callee", b.Callees}} {
		for _, row := range CellsOfGroups("function", part.list).Rows {
			c.Rows = append(c.Rows, append([]string{part.is}, row...))
		}
	}
	return c
}
