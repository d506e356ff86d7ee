package undname

import "strings"

// operators are the names behind "??", then those behind "??_" and "??__". What needs more reading than its
// letter is in operator below.
var operators = [256]string{
	'2': "operator new", '3': "operator delete", '4': "operator=", '5': "operator>>", '6': "operator<<",
	'7': "operator!", '8': "operator==", '9': "operator!=",
	'A': "operator[]", 'C': "operator->", 'D': "operator*", 'E': "operator++", 'F': "operator--", 'G': "operator-",
	'H': "operator+", 'I': "operator&", 'J': "operator->*", 'K': "operator/", 'L': "operator%", 'M': "operator<",
	'N': "operator<=", 'O': "operator>", 'P': "operator>=", 'Q': "operator,", 'R': "operator()", 'S': "operator~",
	'T': "operator^", 'U': "operator|", 'V': "operator&&", 'W': "operator||", 'X': "operator*=", 'Y': "operator+=",
	'Z': "operator-=",
}

var operators1 = [256]string{
	'0': "operator/=", '1': "operator%=", '2': "operator>>=", '3': "operator<<=", '4': "operator&=",
	'5': "operator|=", '6': "operator^=", 'U': "operator new[]", 'V': "operator delete[]",
	'7': "`vftable'", '8': "`vbtable'", '9': "`vcall'", 'A': "`typeof'", 'B': "`local static guard'",
	'D': "`vbase destructor'", 'E': "`vector deleting destructor'", 'F': "`default constructor closure'",
	'G': "`scalar deleting destructor'", 'H': "`vector constructor iterator'", 'I': "`vector destructor iterator'",
	'J': "`vector vbase constructor iterator'", 'K': "`virtual displacement map'",
	'L': "`eh vector constructor iterator'", 'M': "`eh vector destructor iterator'",
	'N': "`eh vector vbase constructor iterator'", 'O': "`copy constructor closure'",
	'S': "`local vftable'", 'T': "`local vftable constructor closure'",
	'X': "`placement delete closure'", 'Y': "`placement delete[] closure'",
}

var operators2 = [256]string{
	'A': "`managed vector constructor iterator'", 'B': "`managed vector destructor iterator'",
	'C': "`eh vector copy constructor iterator'", 'D': "`eh vector vbase copy constructor iterator'",
	'G': "`vector copy constructor iterator'", 'H': "`vector vbase copy constructor iterator'",
	'I': "`managed vector copy constructor iterator'", 'J': "`local static thread guard'",
	'L': "operator co_await",
}

// operator reads a name that is no identifier, behind its "?".
func (d *decoder) operator() symbolName {
	switch c := d.next(); c {
	case 0:
		return symbolName{text: d.missing()}
	case '_':
		return d.operatorUnderscore()
	case '0', '1':
		return d.constructor(c == '1')
	case 'B':
		return symbolName{text: d.lit("operator"), kind: cast}
	default:
		return d.named(operators[c])
	}
}

// constructor is named as its class, which is read with the scopes.
func (d *decoder) constructor(destructor bool) symbolName {
	owner := d.hole()
	if destructor {
		return symbolName{text: d.before("~", owner), owner: owner}
	}
	return symbolName{text: owner, owner: owner}
}

func (d *decoder) named(name string) symbolName {
	if name == "" {
		d.bad = true
		return symbolName{}
	}
	s := symbolName{text: d.lit(name)}
	if strings.HasPrefix(name, "`") {
		s.kind = special
	}
	return s
}

func (d *decoder) operatorUnderscore() symbolName {
	switch c := d.next(); c {
	case 0:
		return symbolName{text: d.missing()}
	case '_':
		return d.operatorUnderscores()
	case '9':
		return symbolName{text: d.lit("`vcall'"), kind: vcall}
	case 'C':
		d.skipString()
		return symbolName{text: d.lit("`string'"), kind: literal}
	case 'P':
		s := d.operator()
		return symbolName{text: d.before("`udt returning'", s.text), owner: s.owner, kind: special}
	case 'R':
		return symbolName{text: d.runtimeType(), kind: special}
	default:
		return d.named(operators1[c])
	}
}

func (d *decoder) operatorUnderscores() symbolName {
	switch c := d.next(); c {
	case 0:
		return symbolName{text: d.missing()}
	case 'E':
		return symbolName{text: d.about("`dynamic initializer for '"), kind: special}
	case 'F':
		return symbolName{text: d.about("`dynamic atexit destructor for '"), kind: special}
	case 'K':
		return symbolName{text: d.before(`operator "" `, d.suffix())}
	case 'M':
		if d.has(CurrentGrammar) {
			return d.named("operator<=>")
		}
		return d.named("")
	default:
		return d.named(operators2[c])
	}
}

// suffix reads the name of a literal operator, which cannot be referred to.
func (d *decoder) suffix() text {
	names := d.names
	t := d.identifier()
	d.names = names
	return t
}

// about names what an initializer or destructor is for: an identifier of the scopes that follow, or a declaration.
func (d *decoder) about(prefix string) text {
	var of text
	if d.take("?") {
		of = d.declaration(false)
		d.take("@")
	} else {
		of = d.identifier()
	}
	return d.cat(d.lit(prefix), of, d.lit("''"))
}

// skipString passes over what identifies a string literal: width of its characters, length in bytes, a hash, and
// its beginning.
//
//	@_0BC@KENGLMNC@hello?5world?$CB?6?$AA@
func (d *decoder) skipString() {
	if !d.take("@_") {
		return
	}
	d.next()
	d.number()
	for range 2 {
		for !d.atEnd() && d.next() != '@' {
		}
	}
}

// runtimeType reads the name of a part of RTTI, behind its "R".
func (d *decoder) runtimeType() text {
	switch d.next() {
	case 0:
		return d.missing()
	case '0':
		t := d.dataType(declarator{})
		return d.after(t, " `RTTI Type Descriptor'")
	case '1':
		t := d.lit("`RTTI Base Class Descriptor at (")
		for i := range 4 {
			if i > 0 {
				t = d.after(t, ",")
			}
			t = d.cat(t, d.signedDimension())
		}
		return d.after(t, ")'")
	case '2':
		return d.lit("`RTTI Base Class Array'")
	case '3':
		return d.lit("`RTTI Class Hierarchy Descriptor'")
	case '4':
		return d.lit("`RTTI Complete Object Locator'")
	}
	return d.fail()
}
