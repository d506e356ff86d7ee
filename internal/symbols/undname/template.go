package undname

import "strconv"

// templateName reads the name and arguments of a class template, behind "?$". The first name of a symbol is printed
// as far as it goes; any other that has no end is left out whole.
func (d *decoder) templateName(first bool) text {
	cut := d.cut
	d.cut = false
	s := d.templateSymbol()
	if d.cut && !first {
		return d.lit(" ?? ")
	}
	d.cut = d.cut || cut
	return s.text
}

// templateSymbol reads a template's name and arguments, behind "?$". References within count from the template's
// name; the ones outside go on behind it.
func (d *decoder) templateSymbol() symbolName {
	if !d.enter() {
		return symbolName{}
	}
	defer d.leave()
	names, types, params := d.names, d.types, d.params
	d.names, d.types, d.params = references{}, references{}, references{}
	var s symbolName
	if d.take("?") {
		s = d.operator()
	} else {
		s.text = d.identifier()
	}
	if !d.bad {
		args := d.templateArguments()
		end := ">"
		if d.lastByte(args) == '>' {
			end = " >"
		}
		s.text = d.cat(s.text, d.lit("<"), args, d.lit(end))
	}
	d.names, d.types, d.params = names, types, params
	return s
}

// templateArguments reads arguments up to "@". Where the measured undecorator does not know one it leaves it out with
// its comma, and goes on.
func (d *decoder) templateArguments() text {
	var all text
	first := true
	for !d.atEnd() && d.peek() != '@' && !d.stop {
		if d.take("$$V") || d.take("$$Z") || d.take("$$$V") || d.take("$S") {
			// An empty pack, or the border between two. In front it leaves a comma.
			first = first && d.has(CurrentGrammar)
			continue
		}
		from := d.pos
		one := d.templateArgument()
		if d.bad {
			if d.pos == from || d.has(CurrentGrammar) {
				return 0
			}
			one, d.bad = 0, false
		}
		switch {
		case first:
			all, first = one, false
		case one != 0:
			all = d.cat(all, d.lit(","), one)
		}
	}
	d.take("@")
	return all
}

func (d *decoder) templateArgument() text {
	if c := d.peek(); c >= '0' && c <= '9' {
		d.pos++
		if int(c-'0') >= d.types.n {
			return d.fail()
		}
		return d.types.ref[c-'0']
	}
	from := d.pos
	var t text
	switch {
	case d.take("?"):
		t = d.parameterOf("`template-parameter-")
	case d.peek() == '$' && d.peekAt(1) != '$':
		d.pos++
		t = d.templateConstant()
	default:
		t = d.dataType(declarator{})
	}
	if d.pos-from > 1 && t != 0 && !d.bad {
		d.types.add(t)
	}
	return t
}

// parameterOf names a template parameter that has no argument yet.
func (d *decoder) parameterOf(prefix string) text {
	n := d.signedDimension()
	if d.bad {
		return 0
	}
	return d.cat(d.lit(prefix), n, d.lit("'"))
}

// templateConstant reads an argument that is a value, behind its "$".
func (d *decoder) templateConstant() text {
	switch c := d.next(); c {
	case 0:
		return d.missing()
	case '0':
		return d.signedDimension()
	case '1':
		if d.take("@") {
			return d.lit("NULL")
		}
		return d.before("&", d.object())
	case '2':
		return d.float()
	case 'D':
		return d.parameterOf("`template-parameter")
	case 'E':
		return d.object()
	case 'F', 'G', 'H', 'I', 'J':
		return d.memberPointer(c)
	case 'M':
		if d.has(CurrentGrammar) {
			d.dataType(declarator{}) // the type of template<auto>; the value follows as without it
			return d.templateConstant()
		}
		return 0
	case 'Q':
		return d.parameterOf("`non-type-template-parameter")
	case 'R':
		if d.has(CurrentGrammar) {
			d.identifier()
			return d.signedDimension()
		}
		return d.parameterOf("`template-type-parameter-")
	}
	return d.fail()
}

// object reads the symbol that an argument refers to.
func (d *decoder) object() text {
	if !d.take("?") {
		return d.fail()
	}
	return d.declaration(false)
}

// float reads a mantissa with its point behind the first digit, and an exponent.
func (d *decoder) float() text {
	negative := d.take("?")
	mantissa, ok := d.number()
	if !ok {
		return d.fail()
	}
	digits := strconv.FormatUint(mantissa, 10)
	exponent := d.signedDimension()
	if negative {
		digits = "-" + digits[:1] + "." + digits[1:]
	} else {
		digits = digits[:1] + "." + digits[1:]
	}
	return d.cat(d.lit(digits+"e"), exponent)
}

// memberPointer reads a pointer to member that takes more than one word: the function (H to J), then offsets.
func (d *decoder) memberPointer(kind byte) text {
	offsets := map[byte]int{'F': 2, 'G': 3, 'H': 1, 'I': 2, 'J': 3}[kind]
	t := d.lit("{")
	function := kind >= 'H'
	null := function && d.peek() != '?'
	if function && !null {
		t = d.cat(t, d.object(), d.lit(","))
	}
	for i := range offsets {
		if i > 0 {
			t = d.after(t, ",")
		}
		t = d.cat(t, d.signedDimension())
	}
	if null || d.bad {
		return 0
	}
	return d.after(t, "}")
}
