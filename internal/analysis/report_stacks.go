package analysis

// Summary is a copy of the report without its sites and findings, with the stacks that the rest names.
func (r *Report) Summary() *Report {
	head := *r
	head.Sites, head.Findings, head.ExitTests, head.lazy = nil, nil, nil, nil
	head.Memory, head.Reported = cloneMemory(r.Memory), append([]ReportedLeaks(nil), r.Reported...)
	head.Stacks = r.Stacks.only(head.headRefs())
	return &head
}

// cloneMemory copies the parts of a Memory that name stacks.
func cloneMemory(list []Memory) []Memory {
	out := append([]Memory(nil), list...)
	for i := range out {
		m := &out[i]
		m.Samples, m.Claims = append([]Sample(nil), m.Samples...), append([]ToolClaim(nil), m.Claims...)
		for k := range m.Claims {
			m.Claims[k].Samples = append([]Sample(nil), m.Claims[k].Samples...)
		}
	}
	return out
}

// Stack returns the frames of a stack, innermost first.
func (r *Report) Stack(ref StackRef) []*Frame { return r.Stacks.Frames(ref) }

// AddStack adds a stack, innermost frame first, to a report that is made by hand; a stack that is there already keeps
// its ref. It panics at an offset or address that is no hexadecimal number.
func (r *Report) AddStack(frames ...*Frame) StackRef {
	if r.Stacks == nil {
		r.Stacks = newStacks()
	}
	ref, err := r.Stacks.Add(frames)
	if err != nil {
		panic(err)
	}
	return ref
}

// stackRefs are all places of a report that name a stack.
func (r *Report) stackRefs() []*StackRef {
	refs := make([]*StackRef, 0, len(r.Sites))
	for i := range r.Sites {
		refs = append(refs, &r.Sites[i].Stack)
		for k := range r.Sites[i].AliasStacks {
			refs = append(refs, &r.Sites[i].AliasStacks[k])
		}
	}
	return append(refs, r.headRefs()...)
}

// headRefs are those of stackRefs that are in no site.
func (r *Report) headRefs() (refs []*StackRef) {
	ofSamples := func(samples []Sample) {
		for i := range samples {
			refs = append(refs, &samples[i].Stack)
		}
	}
	for i := range r.Memory {
		ofSamples(r.Memory[i].Samples)
		for k := range r.Memory[i].Claims {
			c := &r.Memory[i].Claims[k]
			refs = append(refs, &c.Stack)
			ofSamples(c.Samples)
		}
	}
	for i := range r.Reported {
		refs = append(refs, &r.Reported[i].Stack)
	}
	return refs
}
