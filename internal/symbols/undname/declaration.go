package undname

// A symbolName is the name at the beginning of a decorated name, with what its kind means for the rest.
type symbolName struct {
	text  text
	owner text // hole for the class name of a constructor or destructor, or 0
	kind  symbolKind
}

type symbolKind uint8

const (
	plain   symbolKind = iota
	cast               // operator T: the type returned is part of the name
	vcall              // `vcall': an offset is part of the name
	literal            // `string': nothing but the name
	special            // another name that no one has written
)

// declaration reads name, scopes and type of a symbol behind its "?". The outermost one is top: where only the name
// is wanted its type is not looked at. The branches are the grammar in its order, with what the measured undecorator
// does where a name breaks off or is none.
func (d *decoder) declaration(top bool) text {
	if !d.enter() {
		return 0
	}
	defer d.leave()
	if d.atEnd() {
		return d.missing()
	}
	if d.has(CurrentGrammar) && d.take("?@") {
		return d.hashed()
	}
	s := d.symbolName()
	if d.bad {
		return 0
	}
	if top && s.kind >= vcall && d.has(NoSpecialSyms) {
		return d.fail()
	}
	if s.owner != 0 && d.peek() == '@' {
		return d.fail() // a constructor of nothing
	}
	name := s.text
	if s.kind == literal && d.literalEnds(top) {
		return name
	}
	if !d.atEnd() && d.peek() != '@' {
		scopes, class := d.scopes()
		if s.owner != 0 {
			d.fill(s.owner, class)
		}
		if scopes != 0 {
			name = d.cat(scopes, d.lit("::"), name)
		}
	}
	if d.bad {
		return 0
	}
	if !d.atEnd() && !d.take("@") {
		return d.fail()
	}
	if top && d.has(NameOnly) && s.kind != cast && s.kind != vcall {
		return name
	}
	return d.typeOf(name, s.kind)
}

// hashed reads a symbol of which the compiler has left a hash only.
func (d *decoder) hashed() text {
	from := d.pos
	for !d.atEnd() && d.peek() != '@' {
		d.pos++
	}
	t := d.lit(d.name[from:d.pos])
	d.take("@")
	return d.cat(d.lit("??@"), t, d.lit("@"))
}

// literalEnds tells whether nothing that could be a scope follows a string literal. Literals of one compiler have
// another hash there, which the measured undecorator takes for one.
func (d *decoder) literalEnds(top bool) bool {
	if d.has(CurrentGrammar) {
		d.pos = len(d.name)
	}
	return d.atEnd() || top && d.has(NameOnly) && !identifierByte[d.peek()]
}

// symbolName reads an identifier, an operator, or either with template arguments.
func (d *decoder) symbolName() symbolName {
	if !d.take("?") {
		return symbolName{text: d.identifier()}
	}
	if !d.take("$") {
		return d.operator()
	}
	// The name of a function template cannot be referred to, unlike that of a class template.
	return d.templateSymbol()
}
