package undname

import "strconv"

// identifier reads a name up to "@", or a digit that refers to an earlier one.
func (d *decoder) identifier() text {
	if c := d.peek(); c >= '0' && c <= '9' {
		d.pos++
		if int(c-'0') >= d.names.n {
			return d.fail()
		}
		return d.names.ref[c-'0']
	}
	if d.take("?$") {
		t := d.templateName(false)
		d.names.add(t)
		return t
	}
	if d.atEnd() {
		return d.missing()
	}
	t := d.letters()
	if !d.bad {
		d.names.add(t)
	}
	return t
}

// letters reads the bytes of an identifier and the "@" behind it.
func (d *decoder) letters() text {
	from := d.pos
	for !d.atEnd() && d.peek() != '@' {
		if !d.has(NoIdentCharCheck) && !identifierByte[d.peek()] {
			return d.fail()
		}
		d.pos++
	}
	if d.pos == from {
		return d.fail()
	}
	t := d.lit(d.name[from:d.pos])
	if !d.take("@") {
		d.cut = true
	}
	return t
}

// identifierByte: names that compilers make up hold "<", ">", "-" and "$"; beyond ASCII everything is allowed.
var identifierByte = func() (ok [256]bool) {
	for c := range ok {
		b := byte(c)
		ok[c] = b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' ||
			b == '_' || b == '$' || b == '<' || b == '>' || b == '-' || b >= 0x80
	}
	return ok
}()

// scopes reads namespaces, classes and functions, innermost first, up to the "@" that ends them. It returns them
// outermost first, and the innermost alone.
func (d *decoder) scopes() (all, innermost text) {
	for !d.atEnd() && d.peek() != '@' {
		if !d.enter() {
			return 0, 0
		}
		one := d.scope()
		d.leave()
		if d.bad || d.stop {
			return 0, 0
		}
		if all == 0 {
			all, innermost = one, one
		} else {
			all = d.cat(one, d.lit("::"), all)
		}
	}
	if d.atEnd() {
		all = d.cat(d.missing(), d.lit("::"), all)
	}
	return all, innermost
}

// scope reads one of them.
func (d *decoder) scope() text {
	if d.peek() != '?' || d.peekAt(1) == '$' {
		return d.identifier()
	}
	d.pos++
	switch d.peek() {
	case '?': // within a function, whose declaration follows
		d.pos++
		return d.cat(d.lit("`"), d.declaration(false), d.lit("'"))
	case 'A':
		return d.anonymousNamespace()
	case 'Q': // explicitly of an interface
		d.pos++
		return d.cat(d.lit("["), d.scopedName(), d.lit("]"))
	}
	n, ok := d.number() // a block within a function
	if !ok {
		return d.fail()
	}
	return d.lit("`" + strconv.FormatUint(n, 10) + "'")
}

// anonymousNamespace reads "A", with a hash of the source file behind "0x" or without. What refers back to it is
// printed as it is written.
func (d *decoder) anonymousNamespace() text {
	from := d.pos
	for !d.atEnd() && d.peek() != '@' {
		d.pos++
	}
	t := d.lit("`anonymous namespace'")
	if d.has(CurrentGrammar) {
		d.names.add(t)
	} else {
		d.names.add(d.lit(d.name[from:d.pos]))
	}
	d.take("@")
	return t
}

// scopedName reads the name of a type: an identifier, its scopes and the "@" behind them.
func (d *decoder) scopedName() text {
	if d.atEnd() {
		return d.missing()
	}
	if d.take("@") { // no name at all
		d.take("@")
		return 0
	}
	name := d.identifier()
	if d.bad {
		return 0
	}
	if !d.atEnd() && d.peek() != '@' {
		scopes, _ := d.scopes()
		if d.bad {
			return 0
		}
		name = d.cat(scopes, d.lit("::"), name)
	}
	if !d.take("@") {
		name = d.cat(d.missing(), d.lit("::"), name)
	}
	return name
}
