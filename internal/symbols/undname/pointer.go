package undname

import "strconv"

// A declarator is what a type is put around: "x" in "int * x", "(__cdecl* x)" in "int (__cdecl* x)(void)".
type declarator struct {
	text  text
	cv    text // const, volatile of what is declared
	blank text // hole in front of text where that is a variable's name, or 0
}

// declare puts a type that needs no brackets in front of a declarator.
func (d *decoder) declare(t text, around declarator) text {
	if around.cv != 0 {
		t = d.cat(t, d.lit(" "), around.cv, d.lit(" "))
		return d.cat(t, around.text)
	}
	if d.lastByte(t) == ' ' { // what is missing has a blank behind it
		return d.cat(t, around.text)
	}
	return d.words(t, around.text)
}

// indirection is what stands between a pointer and what it points to.
type indirection struct {
	unaligned, ptr64, restrict bool
	reference                  string // "&" or "&&", of functions only
	handle                     byte   // behind "$": A, B, C, or 1 for an array
	rank                       uint64 // of that array
	cv                         byte
}

// modifiers reads the letters E to I and "$" in front of const and volatile.
func (d *decoder) modifiers() (in indirection) {
	for {
		switch d.peek() {
		case 'E':
			in.ptr64 = true
		case 'F':
			in.unaligned = true
		case 'G':
			in.reference = "&"
		case 'H':
			in.reference = "&&"
		case 'I':
			in.restrict = true
		case '$':
			if !d.managed(&in) {
				return in
			}
			continue
		default:
			return in
		}
		d.pos++
	}
}

// managed reads the mark of a C++/CLI handle, pinning pointer or array.
func (d *decoder) managed(in *indirection) bool {
	switch c := d.peekAt(1); {
	case c >= 'A' && c <= 'C':
		in.handle = c
		d.pos += 2
		return true
	case c >= '0' && c <= '9' && d.peekAt(2) != 0: // the rank, in two hexadecimal digits
		rank, err := strconv.ParseUint(d.name[d.pos+1:d.pos+3], 16, 8)
		if err != nil {
			return false
		}
		in.handle, in.rank = '1', rank
		d.pos += 3
		return true
	}
	return false
}

// cvText spells const and volatile as a letter of A to D, or of the same order from another beginning, says.
func (d *decoder) cvText(c byte) text {
	return d.lit([4]string{"", "const", "volatile", "const volatile"}[c&3])
}

// pointer reads what a pointer or reference points to. symbol is "*", "&" or "&&". own is the const or volatile of the
// pointer itself, which is printed only where nothing is declared with it. The branches are the grammar in its order:
// each reads on from where the one before it ended.
func (d *decoder) pointer(symbol string, own byte, around declarator) text {
	if !d.enter() {
		return 0
	}
	defer d.leave()
	switch {
	case around.text != 0:
	case around.cv == 0:
		around.cv = d.cvText(own)
	default: // const or volatile of a type that declares nothing: "int * const "
		around.cv = d.after(around.cv, " ")
	}
	if d.atEnd() {
		return d.cat(d.missing(), d.lit(symbol), around.cv, around.text)
	}
	if c := d.peek(); c >= '6' && c <= '9' {
		return d.functionPointer(symbol, around)
	}
	in := d.modifiers()
	switch in.handle {
	case 'A', '1':
		if symbol == "*" {
			symbol = "^"
		} else {
			symbol = "%"
		}
	case 'C':
		symbol = "%"
	}
	in.cv = d.next()
	sym := d.lit(symbol)
	switch {
	case in.cv >= 'Q' && in.cv <= 'T':
		if in.unaligned { // stands here, and not behind const and volatile
			sym, in.unaligned = d.words(d.lit(d.keyword("__unaligned")), sym), false
		}
		sym = d.cat(d.scopedName(), d.lit("::"), sym)
		in.cv -= 'Q' - 'A'
	case in.cv >= 'M' && in.cv <= 'P':
		sym = d.cat(d.based(), sym)
		in.cv -= 'M' - 'A'
	case in.cv >= 'J' && in.cv <= 'L': // of segmented memory
		in.cv -= 'I' - 'A'
	case in.cv < 'A' || in.cv > 'D':
		if d.has(CurrentGrammar) {
			return d.fail()
		}
		return d.primary(declarator{}) // nothing of the pointer is left
	}
	if d.bad {
		return 0
	}
	if in.ptr64 {
		sym = d.words(sym, d.lit(d.keyword("__ptr64")))
	}
	if in.restrict {
		sym = d.words(sym, d.lit(d.keyword("__restrict")))
	}
	sym = d.words(sym, around.cv)
	return d.pointee(in, declarator{text: d.words(sym, around.text)})
}

// pointee reads the type that in leads to, around the pointer.
func (d *decoder) pointee(in indirection, around declarator) text {
	around.cv = d.cvText(in.cv - 'A')
	if in.unaligned {
		around.cv = d.words(around.cv, d.lit(d.keyword("__unaligned")))
	}
	switch {
	case in.handle == 'B':
		t := d.primary(declarator{cv: around.cv})
		return d.cat(d.lit("cli::pin_ptr<"), t, d.lit(d.closing(t)))
	case in.handle == '1':
		end := " >"
		if in.rank > 1 {
			end = " ," + strconv.FormatUint(in.rank, 10) + ">"
		}
		return d.cat(d.lit("cli::array<"), d.primary(declarator{}), d.lit(end), around.text)
	case d.peek() == 'Y':
		d.pos++
		inner := around.text
		if around.cv != 0 {
			inner = d.cat(around.cv, d.lit(" "), inner)
		}
		return d.array(d.cat(d.lit("("), inner, d.lit(")")))
	case d.peek() == 'X':
		d.pos++
		return d.declare(d.lit("void"), around)
	}
	return d.primary(around)
}

// closing is the bracket behind a template argument that ends as t does.
func (d *decoder) closing(t text) string {
	if d.lastByte(t) == '>' {
		return " >"
	}
	return ">"
}

// array reads the extents and elements of an array, behind "Y".
func (d *decoder) array(name text) text {
	n, ok := d.number()
	if !ok {
		return d.fail()
	}
	all := name
	for ; n > 0; n-- {
		if d.atEnd() {
			d.missing()
			break
		}
		all = d.cat(all, d.lit("["), d.dimension(), d.lit("]"))
		if d.bad {
			return 0
		}
	}
	return d.primary(declarator{text: all})
}

// based reads what a __based pointer counts from.
func (d *decoder) based() text {
	var of text
	switch d.next() {
	case 0:
		of = d.missing()
	case '0':
		of = d.lit("void")
	case '2':
		of = d.scopedName()
	case '5':
		return 0
	default:
		return d.fail()
	}
	word := d.keyword("__based")
	if word == "" {
		return 0
	}
	return d.cat(d.lit(word+"("), of, d.lit(") "))
}
