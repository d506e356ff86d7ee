package blame

// Attributes are what a project's rules say of a stack beyond its layers: who owns it, why it is known, and in which
// group it is. Each comes with the id of the rule that gave it; "" for none.
type Attributes struct {
	Owner, Known, Group             string
	OwnerRule, KnownRule, GroupRule string
}

// attributesOf lists the rules that may give the frame's stack an owner, a reason or a group.
func (r *Rules) attributesOf(s *subject) []*rule {
	var list []*rule
	for _, rule := range r.attributes {
		if rule.matches(s) {
			list = append(list, rule)
		}
	}
	return list
}

// Attributes returns the attributes that the rules give the stack. Each is searched on its own: at the blamed frame
// first, then at the next frames toward the root until a rule gives it; at one frame the first rule of the file
// decides. Rules with frame: or stack: count as if the blamed frame fulfilled them.
func (p MarkedStack) Attributes(stack []*Class) Attributes {
	var a Attributes
	if p.Blame < 0 || p.Blame >= len(stack) {
		return a
	}
	anywhere := merged(anyFrame(stack), p.stackRules(stack))
	for i := p.Blame; i < len(stack); i++ {
		rules := stack[i].attributes
		if i == p.Blame {
			rules = merged(rules, anywhere)
		}
		for _, r := range rules {
			if !r.isAnywhere() || i == p.Blame {
				a.take(r)
			}
		}
		if a.Owner != "" && a.Known != "" && a.Group != "" {
			break
		}
	}
	return a
}

func (a *Attributes) take(r *rule) {
	if a.Owner == "" && r.owner != "" {
		a.Owner, a.OwnerRule = r.owner, r.id
	}
	if a.Known == "" && r.known != "" {
		a.Known, a.KnownRule = r.known, r.id
	}
	if a.Group == "" && r.group != "" {
		a.Group, a.GroupRule = r.group, r.id
	}
}

// anyFrame lists the rules about any frame that some frame of the stack fulfils.
func anyFrame(stack []*Class) []*rule {
	var list []*rule
	for _, c := range stack {
		for _, r := range c.attributes {
			if r.frame.pattern != "" {
				list = merged(list, []*rule{r})
			}
		}
	}
	return list
}

// merged joins two lists in the order of the file, each rule once.
func merged(a, b []*rule) []*rule {
	switch {
	case len(b) == 0:
		return a
	case len(a) == 0:
		return b
	}
	list := make([]*rule, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].line < b[0].line:
			list, a = append(list, a[0]), a[1:]
		case len(a) == 0 || b[0].line < a[0].line:
			list, b = append(list, b[0]), b[1:]
		default:
			list, a, b = append(list, a[0]), a[1:], b[1:]
		}
	}
	return list
}
