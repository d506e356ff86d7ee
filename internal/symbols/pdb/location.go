package pdb

import "slices"

// A Location is the source location of an address. Names are as the PDB spells them: those of public symbols are
// decorated.
type Location struct {
	Function           string
	Kind               SymbolKind
	Displacement       uint32 // bytes from the function's start, in the source space
	Start              uint32 // image RVA of the function's start; 0 where OMAP does not have it
	File               string // "" unknown
	Line               uint32 // 0 unknown; see IsHiddenLine
	Inlines            []Inline
	Public             string // nearest public symbol at or before the address in its section; "" for none
	PublicDisplacement uint32 // bytes from it, in the source space
	Folded             bool   // identical functions of one module are at this address: it names the first, which is any of them
	LowConfidence      bool   // a public symbol gave the name, and the address may be behind its code
}

// An Inline is a call that was inlined at an address, innermost first. File and Line are the position inside the
// inlined function; where the call itself is says the next one, and after the last the Location.
type Inline struct {
	Name string
	File string // "" unknown
	Line uint32 // 0 unknown
}

// same says whether two locations differ in nothing but how far they are from what they name, which is the same.
func (l *Location) same(o *Location) bool {
	return l.Line == o.Line && l.Start == o.Start && l.Kind == o.Kind && l.LowConfidence == o.LowConfidence &&
		l.Folded == o.Folded &&
		l.Function == o.Function && l.File == o.File && l.Public == o.Public && slices.Equal(l.Inlines, o.Inlines)
}
