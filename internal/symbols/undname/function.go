package undname

// conventions are the letters of calling conventions; the second of each pair is for exported functions.
var conventions = [256]string{
	'A': "__cdecl", 'B': "__cdecl", 'C': "__pascal", 'D': "__pascal", 'E': "__thiscall", 'F': "__thiscall",
	'G': "__stdcall", 'H': "__stdcall", 'I': "__fastcall", 'J': "__fastcall", 'M': "__clrcall", 'N': "__clrcall",
	'O': "__eabi", 'P': "__eabi", 'Q': "__vectorcall", 'R': "__vectorcall",
	'S': "__swift_1", 'T': "__swift_1", 'U': "__swift_2",
}

// newConventions are the ones that came later.
var newConventions = [256]string{
	'S': "__swiftcall", 'W': "__swiftasynccall", 'w': "__regcall",
}

// convention reads a calling convention, and is empty where there is none.
func (d *decoder) convention() text {
	c := d.next()
	if c == 0 {
		return d.missing()
	}
	word := conventions[c]
	if d.has(CurrentGrammar) && newConventions[c] != "" {
		word = newConventions[c]
	}
	switch {
	case word == "" && d.has(CurrentGrammar) && c != 'K' && c != 'L': // these two are none
		return d.fail()
	case word == "":
		return 0
	}
	return d.lit(d.keyword(word))
}

// ownConvention is the convention of a symbol, unlike that of a pointer or argument within its type.
func (d *decoder) ownConvention() text {
	convention := d.convention()
	if d.has(NoAllocationLanguage) {
		return 0
	}
	return convention
}

// thisType reads what a member function demands of its object, and prints it as it stands behind the parameters.
func (d *decoder) thisType() text {
	if d.atEnd() {
		return d.missing()
	}
	in := d.modifiers()
	c := d.next()
	if c < 'A' || c > 'D' {
		return d.fail()
	}
	if d.flags&NoThisType == NoThisType {
		return 0
	}
	cv := [4]string{"", "const", "volatile", "const volatile"}[c-'A']
	unaligned := d.thisWord(in.unaligned, "__unaligned")
	if cv == "" && unaligned != "" {
		unaligned = unaligned[1:]
	}
	cv += unaligned
	words := d.thisWord(in.ptr64, "__ptr64") + d.thisWord(in.restrict, "__restrict")
	if cv != "" && words == "" {
		words = " "
	}
	if in.reference != "" {
		words += in.reference + " "
	}
	return d.lit(cv + words)
}

func (d *decoder) thisWord(on bool, word string) string {
	if word = d.keyword(word); !on || word == "" {
		return ""
	}
	return " " + word
}

// callable reads what functions and pointers to functions share after the convention: return type, parameters,
// exceptions. around makes the declarator from the convention and the text after the name.
func (d *decoder) callable(convention, this text, around func(convention, tail text) text) text {
	declarator := d.hole()
	result := d.result(declarator)
	params := d.bracketed()
	exceptions := d.exceptions()
	if d.bad || d.stop {
		return 0
	}
	d.fill(declarator, around(convention, d.cat(params, this, exceptions)))
	return result
}

// result reads the type returned; constructors have none.
func (d *decoder) result(around text) text {
	if d.take("@") {
		return around
	}
	return d.dataType(declarator{text: around})
}

// functionPointer reads what a pointer to a function, or to a member function, points to.
func (d *decoder) functionPointer(symbol string, name declarator) text {
	var class, this text
	if c := d.next(); c >= '8' {
		class = d.scopedName()
		this = d.thisType()
		if d.bad {
			return 0
		}
	}
	return d.callable(d.convention(), this, func(convention, tail text) text {
		if class != 0 {
			// The blank is there without a convention, too.
			convention = d.cat(convention, d.lit(" "), class, d.lit("::"))
		}
		pointer := d.before(symbol, name.cv)
		if name.blank == 0 && name.cv != 0 && name.text != 0 {
			pointer = d.after(pointer, " ")
		}
		pointer = d.cat(pointer, name.blank, name.text)
		return d.cat(d.lit("("), convention, pointer, d.lit(")"), tail)
	})
}

// functionType reads a function as a template argument. Without Microsoft keywords nothing is left of it but the
// type returned and a blank.
func (d *decoder) functionType() text {
	var this text
	switch d.next() {
	case 0:
		return d.missing()
	case '6', '7':
	case '8', '9':
		if !d.take("@@") {
			return d.fail()
		}
		this = d.thisType()
	default:
		return d.fail()
	}
	return d.callable(d.convention(), this, func(convention, tail text) text {
		if d.has(NoMSKeywords) {
			return 0
		}
		return d.cat(convention, tail)
	})
}

// bracketed reads parameters, and prints them unless they are the outermost and not wanted.
func (d *decoder) bracketed() text {
	params := d.parameters()
	if d.has(NoArguments) && d.depth == 1 {
		return 0
	}
	return d.cat(d.lit("("), params, d.lit(")"))
}

// parameters reads a list up to "@" or "Z", without brackets.
func (d *decoder) parameters() text {
	var all text
	for first := true; ; first = false {
		if !first {
			switch {
			case d.take("@"):
				return all
			case d.take("Z"):
				return d.after(all, ",...")
			}
		}
		var one text
		switch c := d.peek(); {
		case d.atEnd():
			return d.missing()
		case first && c == 'X':
			d.pos++
			return d.lit("void")
		case first && c == 'Z':
			d.pos++
			return d.lit("...")
		case c >= '0' && c <= '9':
			d.pos++
			if int(c-'0') >= d.params.n {
				return d.fail()
			}
			one = d.params.ref[c-'0']
		default:
			from := d.pos
			one = d.dataType(declarator{})
			if d.pos-from > 1 && !d.bad {
				d.params.add(one)
			}
		}
		if d.bad || d.stop {
			return 0
		}
		if first {
			all = one
		} else {
			all = d.cat(all, d.lit(","), one)
		}
		if d.atEnd() {
			return d.cat(all, d.lit(","), d.missing())
		}
	}
}

// exceptions reads the exception specification: "Z" for none, "_E" for noexcept, or the list of compilers before
// Visual C++ 7, which the measured undecorator does not read.
func (d *decoder) exceptions() text {
	switch {
	case d.atEnd():
		d.cut = true
		return 0
	case d.take("Z"):
		return 0
	case d.take("_E"):
		if !d.has(CurrentGrammar) {
			d.take("Z") // the measured undecorator takes it for a part of noexcept, not for an ellipsis
		}
		if d.has(NoThrowSignatures) {
			return 0
		}
		return d.lit(" noexcept")
	case !d.has(CurrentGrammar):
		return d.fail()
	}
	list := d.parameters()
	if d.bad || d.has(NoThrowSignatures) {
		return 0
	}
	return d.cat(d.lit(" throw("), list, d.lit(")"))
}
