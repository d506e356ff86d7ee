package blame

// A Classifier classes frames, and decides once for each module and function: frames of one function differ by their
// names only, and that only where the function is unknown. It is for one goroutine.
type Classifier struct {
	rules *Rules
	known map[decisionKey]*Decision
}

// decisionKey is all of a frame that a Decision depends on.
type decisionKey struct {
	module         *Module
	function, file string
	kernel         bool
}

// Classifier returns a Classifier of the rules.
func (r *Rules) Classifier() *Classifier { return &Classifier{r, map[decisionKey]*Decision{}} }

// Class is Rules.Class.
func (c *Classifier) Class(f *Frame) Class {
	key := decisionKey{f.Module, f.Function, f.File, f.Kernel}
	d := c.known[key]
	if d == nil {
		d = c.rules.decide(f)
		c.known[key] = d
	}
	return Class{d, f.Offset}
}
