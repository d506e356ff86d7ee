package analysis

import "fmt"

// Unwritten is what WriteJSON leaves out of a report, because readers of reports do not need it. A process that hands
// its report on as JSON hands this over, too.
type Unwritten struct {
	Observation *Observation         `json:"observation,omitempty"`
	Findings    []UnwrittenOfFinding `json:"findings"`   // by the findings of the report
	StackKeys   []byte               `json:"stack_keys"` // Site.StackKey of all sites, one behind the other
}

// UnwrittenOfFinding is the part of Unwritten that is of one finding.
type UnwrittenOfFinding struct {
	SeveralStacks bool       `json:"several_stacks,omitempty"`
	MostHeld      int64      `json:"most_held,omitempty"`
	Risk          *Risk      `json:"risk,omitempty"`
	Alone         []*Finding `json:"alone,omitempty"` // JoinedLine.Alone, by Finding.Joined
}

// Unwritten returns what WriteJSON leaves out.
func (r *Report) Unwritten() *Unwritten {
	r.SetStackKeys()
	u := &Unwritten{Observation: r.Observation, Findings: make([]UnwrittenOfFinding, len(r.Findings)),
		StackKeys: make([]byte, 0, len(r.Sites)*len(Key{}))}
	var s scratch
	for i := range r.Findings {
		f := &r.Findings[i]
		of := UnwrittenOfFinding{SeveralStacks: f.SeveralStacks, MostHeld: f.MostHeld, Risk: f.Risk}
		for k := range f.Joined {
			alone := f.Joined[k].Alone
			if alone != nil {
				alone = new(*alone)
				alone.describe(&s)
			}
			of.Alone = append(of.Alone, alone)
		}
		u.Findings[i] = of
	}
	for i := range r.Sites {
		u.StackKeys = append(u.StackKeys, r.Sites[i].StackKey[:]...)
	}
	return u
}

// Restore adds to a report that was read from JSON what WriteJSON has left out of it. It refuses what is of another
// report.
func (r *Report) Restore(u *Unwritten) error {
	if len(u.Findings) != len(r.Findings) || len(u.StackKeys) != len(r.Sites)*len(Key{}) {
		return fmt.Errorf("analysis: %d signatures and %d bytes of keys are not of a report with %d signatures and %d sites",
			len(u.Findings), len(u.StackKeys), len(r.Findings), len(r.Sites))
	}
	r.Observation = u.Observation
	for i := range r.Findings {
		f, of := &r.Findings[i], &u.Findings[i]
		if len(of.Alone) != len(f.Joined) {
			return fmt.Errorf("analysis: signature %d has %d joined lines, not %d", i, len(f.Joined), len(of.Alone))
		}
		f.SeveralStacks, f.MostHeld, f.Risk = of.SeveralStacks, of.MostHeld, of.Risk
		for k := range f.Joined {
			f.Joined[k].Alone = of.Alone[k]
		}
	}
	for i := range r.Sites {
		r.Sites[i].StackKey = Key(u.StackKeys[i*len(Key{}):])
	}
	return nil
}
