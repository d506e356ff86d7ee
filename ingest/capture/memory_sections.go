package capture

import (
	"encoding/json"
	"fmt"
)

func (c *Capture) putMemory(e *encoder) {
	if c.Memory == nil {
		return
	}
	text, err := json.Marshal(c.Memory)
	if err != nil {
		panic(fmt.Sprintf("capture: memory as JSON: %v", err)) // it is made of numbers and texts
	}
	e.b = append(e.b, text...)
}

func (c *Capture) takeMemory(d *decoder) {
	if len(d.b) > 0 {
		c.Memory = &Memory{}
		d.bad = json.Unmarshal(d.b, c.Memory) != nil
	}
}

func (c *Capture) putUnreachable(e *encoder) {
	for i := range c.Sites {
		if c.Sites[i].Unreachable {
			e.uint(uint64(i))
		}
	}
}

// takeUnreachable relies on the sites section before it.
func (c *Capture) takeUnreachable(d *decoder) {
	for len(d.b) > 0 && !d.bad {
		i := d.uint()
		if i >= uint64(len(c.Sites)) {
			d.bad = true
			return
		}
		c.Sites[i].Unreachable = true
	}
}

// check refuses stacks that the capture does not have. It may be called on nil.
func (m *Memory) check(stacks int) error {
	if m == nil {
		return nil
	}
	ok := samplesIn(m.Samples, stacks)
	for i := range m.Claims {
		ok = ok && int(m.Claims[i].Stack) < stacks && samplesIn(m.Claims[i].Samples, stacks)
	}
	for i := range m.Groups {
		ok = ok && int(m.Groups[i].Symbol) < stacks
	}
	if !ok {
		return fmt.Errorf("%w: a sample names a stack that is not there", ErrArtifact)
	}
	return nil
}

func samplesIn(samples []Sample, stacks int) bool {
	for i := range samples {
		if int(samples[i].Stack) >= stacks {
			return false
		}
	}
	return true
}
