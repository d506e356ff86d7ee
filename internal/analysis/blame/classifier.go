package blame

import "strings"

// A Classifier classes frames and decides once for each module and function: of the addresses of one it is the name alone that differs,
// and that only where the function is not known. It is for one goroutine.
type Classifier struct {
	rules *Rules
	known map[classKey]*known
}

// A classKey is all of a frame that its class, the name aside, depends on.
type classKey struct {
	module         *Module
	function, file string
	kernel         bool
}

// known is a class, and what stands before and behind the offset in the name of a frame without a function.
type known struct {
	class         Class
	before, after string
}

// Classifier returns a Classifier of the rules.
func (r *Rules) Classifier() *Classifier { return &Classifier{r, map[classKey]*known{}} }

// Class is Rules.Class.
func (c *Classifier) Class(f *Frame) Class {
	key := classKey{f.Module, f.Function, f.File, f.Kernel}
	k := c.known[key]
	if k == nil {
		k = &known{class: c.rules.Class(f)}
		k.before, k.after, _ = strings.Cut(k.class.Name, "<unknown>+"+f.Offset)
		k.before += "<unknown>+"
		c.known[key] = k
	}
	class := k.class
	if class.Unnamed {
		class.Name = k.before + f.Offset + k.after
	}
	return class
}
