package undname

// typeOf reads what follows the name of a symbol: the kind of symbol and its type.
func (d *decoder) typeOf(name text, kind symbolKind) text {
	if d.has(NameOnly) && kind != cast && kind != vcall {
		// Whatever follows has to be read, for what comes behind it, but is not printed.
		d.symbolType(name, kind)
		return name
	}
	return d.symbolType(name, kind)
}

// symbolType reads the type and prints it around the name.
func (d *decoder) symbolType(name text, kind symbolKind) text {
	prefix := ""
	if d.take("$$J") { // extern "C", with a digit
		d.next()
		if !d.has(NameOnly) {
			prefix = `extern "C" `
		}
	} else if d.peek() == '$' && d.peekAt(1) == '$' { // $$F, $$H: managed, as the linker sees it
		d.pos = min(d.pos+3, len(d.name))
	}
	switch c := d.next(); {
	case c == 0:
		return d.unknown(name)
	case c >= 'A' && c <= 'X':
		return d.before(prefix, d.memberFunction(c-'A', name, kind))
	case c == 'Y' || c == 'Z':
		return d.before(prefix, d.function("", name, kind, 0, 0))
	case c == '$':
		return d.thunk(name, kind)
	case c >= '0' && c <= '4':
		return d.variable(c, name)
	case c == '5':
		return d.guard(name)
	case c == '6' || c == '7':
		return d.table(name)
	case c == '8' || c == '9':
		return name
	}
	return d.fail()
}

// unknown is a name whose type is missing.
func (d *decoder) unknown(name text) text {
	d.cut = true
	return d.words(d.lit(" ??"), name)
}

// access is the word for letter groups of eight, or digits: private, protected, public.
func (d *decoder) access(n byte) string {
	if d.has(NoAccessSpecifiers) {
		return ""
	}
	return [3]string{"private: ", "protected: ", "public: "}[n]
}

// memberType is static or virtual, with a blank.
func (d *decoder) memberType(word string) string {
	if d.has(NoMemberType) {
		return ""
	}
	return word
}

// memberFunction reads a function of a class. Of each eight letters two each are for ordinary, static and virtual
// functions and for virtual ones that adjust this.
func (d *decoder) memberFunction(letter byte, name text, kind symbolKind) text {
	prefix := d.access(letter / 8)
	var adjustor text
	static := false
	switch letter % 8 / 2 {
	case 1:
		prefix += d.memberType("static ")
		static = true
	case 2:
		prefix += d.memberType("virtual ")
	case 3:
		prefix = "[thunk]:" + prefix + d.memberType("virtual ")
		adjustor = d.cat(d.lit("`adjustor{"), d.dimension(), d.lit("}' "))
	}
	var this text
	if !static {
		this = d.thisType()
	}
	if d.bad {
		return 0
	}
	return d.function(prefix, name, kind, adjustor, this)
}

// function reads convention, type returned and parameters of a function whose class is known.
func (d *decoder) function(prefix string, name text, kind symbolKind, adjustor, this text) text {
	if kind == cast {
		return d.castOperator(prefix, name, adjustor, this)
	}
	var whole text
	result := d.callable(d.ownConvention(), this, func(convention, tail text) text {
		whole = d.cat(d.words(convention, name), adjustor, tail)
		return whole
	})
	if d.has(NoFunctionReturns) {
		result = whole
	}
	return d.before(prefix, result)
}

// castOperator reads a conversion: the type returned is the end of its name.
func (d *decoder) castOperator(prefix string, name, adjustor, this text) text {
	convention := d.ownConvention()
	name = d.after(name, " ")
	if !d.take("@") {
		name = d.cat(name, d.dataType(declarator{}))
	}
	if d.bad || d.has(NameOnly) {
		// The measured undecorator reads no further, even where more of an outer name follows.
		if d.depth > 1 && !d.bad && d.has(CurrentGrammar) {
			d.parameters()
			d.exceptions()
		}
		return name
	}
	params := d.bracketed()
	exceptions := d.exceptions()
	return d.before(prefix, d.cat(d.words(convention, name), adjustor, params, this, exceptions))
}

// thunk reads a function that a virtual base or a vcall needs, behind "$".
func (d *decoder) thunk(name text, kind symbolKind) text {
	c := d.next()
	offsets, of := 2, "`vtordisp{"
	switch c {
	case 0:
		return d.unknown(name)
	case 'B':
		return d.vcall(name)
	case 'R':
		offsets, of = 4, "`vtordispex{"
		c = d.next()
	}
	if c < '0' || c > '5' {
		return d.fail()
	}
	prefix := "[thunk]:" + d.access((c-'0')/2) + d.memberType("virtual ")
	adjustor := d.lit(of)
	for i := range offsets {
		if i > 0 {
			adjustor = d.after(adjustor, ",")
		}
		adjustor = d.cat(adjustor, d.dimension())
	}
	this := d.thisType()
	if d.bad {
		return 0
	}
	return d.function(prefix, name, kind, d.after(adjustor, "}' "), this)
}

// vcall reads the offset of a virtual function and the memory model, of which flat is the only one left.
func (d *decoder) vcall(name text) text {
	offset := d.dimension()
	if d.has(NameOnly) {
		if d.depth > 1 {
			d.next()
			d.convention()
		}
		return d.cat(name, d.lit("{"), offset, d.lit("}'"))
	}
	if !d.take("A") {
		return d.fail()
	}
	convention := d.ownConvention()
	if d.bad {
		return 0
	}
	if convention != 0 {
		convention = d.cat(d.lit(" "), convention, d.lit(" "))
	}
	return d.cat(d.lit("[thunk]:"), convention, name, d.lit("{"), offset, d.lit(",{flat}}' }'"))
}

// variable reads the type of a variable and then how it is stored.
func (d *decoder) variable(c byte, name text) text {
	prefix := ""
	if c <= '2' {
		prefix = d.access(c-'0') + d.memberType("static ")
	}
	declared, blank := d.hole(), d.hole()
	t := d.dataType(declarator{text: declared, blank: blank})
	if d.bad {
		return 0
	}
	own, rest := d.storage()
	if own == 0 {
		d.fill(blank, d.lit(" ")) // there is none in "(__cdecl*const name)"
	}
	d.fill(declared, d.words(d.words(own, rest), name))
	return d.before(prefix, t)
}

// storage reads const, volatile and __unaligned of a variable, then __ptr64 and __restrict. Pointers to members repeat
// their class.
func (d *decoder) storage() (own, rest text) {
	if d.atEnd() {
		return 0, d.missing()
	}
	in := d.modifiers()
	c := d.next()
	switch {
	case c >= 'Q' && c <= 'T':
		d.scopedName()
		c -= 'Q' - 'A'
	case c < 'A' || c > 'D':
		return 0, d.fail()
	}
	own = d.cvText(c - 'A')
	if in.unaligned {
		own = d.words(own, d.lit(d.keyword("__unaligned")))
	}
	if in.ptr64 {
		rest = d.lit(d.keyword("__ptr64"))
	}
	if in.restrict {
		rest = d.words(rest, d.lit(d.keyword("__restrict")))
	}
	return own, rest
}

// guard reads the number of the guard of local statics.
func (d *decoder) guard(name text) text {
	if d.atEnd() {
		return name
	}
	n := d.dimension()
	return d.cat(name, d.lit("{"), n, d.lit("}'"))
}

// table reads what a vftable or vbtable is for.
func (d *decoder) table(name text) text {
	own, rest := d.storage()
	if d.bad {
		return 0
	}
	name = d.cat(d.after(d.words(own, rest), " "), name)
	for first := true; !d.atEnd() && !d.take("@"); first = false {
		open := "s `"
		if first {
			open = "{for `"
		}
		name = d.cat(name, d.lit(open), d.scopedName(), d.lit("'"))
		if d.bad {
			return 0
		}
		if d.peek() == '@' {
			name = d.after(name, "}")
		}
	}
	return name
}
