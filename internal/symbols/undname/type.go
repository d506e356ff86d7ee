package undname

// builtin are the types of one letter, extended those behind "_".
var builtin = [256]string{
	'C': "signed char", 'D': "char", 'E': "unsigned char", 'F': "short", 'G': "unsigned short", 'H': "int",
	'I': "unsigned int", 'J': "long", 'K': "unsigned long", 'M': "float", 'N': "double", 'O': "long double",
}

var extended = [256]string{
	'D': "__int8", 'E': "unsigned __int8", 'F': "__int16", 'G': "unsigned __int16", 'H': "__int32",
	'I': "unsigned __int32", 'J': "__int64", 'K': "unsigned __int64", 'L': "__int128", 'M': "unsigned __int128",
	'N': "bool", 'R': "<unknown>", 'S': "char16_t", 'U': "char32_t", 'W': "wchar_t",
}

// newExtended are the ones that came later.
var newExtended = [256]string{'P': "auto", 'Q': "char8_t", 'T': "decltype(auto)"}

// dataType reads any type.
func (d *decoder) dataType(around declarator) text {
	if !d.enter() {
		return 0
	}
	defer d.leave()
	switch {
	case d.atEnd():
		return d.declare(d.missing(), around)
	case d.take("X"):
		return d.declare(d.lit("void"), around)
	case d.take("?"):
		in := d.modifiers()
		in.cv = d.next()
		if in.cv < 'A' || in.cv > 'D' {
			in.cv = 'A'
		}
		return d.pointee(in, around)
	}
	return d.primary(around)
}

// primary reads a type that neither "void" nor const and volatile on their own can begin.
func (d *decoder) primary(around declarator) text {
	switch d.peek() {
	case 'A':
		d.pos++
		return d.pointer("&", 0, around)
	case 'B':
		d.pos++
		return d.pointer("&", 2, around)
	case 'P', 'Q', 'R', 'S':
		return d.pointer("*", d.next()-'P', around)
	case '$':
		if d.take("$$") {
			return d.dollarType(around)
		}
	}
	return d.basicType(around)
}

// dollarType reads a type behind "$$": the ones that template arguments and rvalue references have brought.
func (d *decoder) dollarType(around declarator) text {
	switch d.next() {
	case 0:
		return d.declare(d.missing(), around)
	case 'A':
		return d.functionType()
	case 'B':
		if d.take("Y") {
			return d.array(around.text)
		}
		return d.dataType(around)
	case 'C':
		in := d.modifiers()
		if in.cv = d.next(); in.cv < 'A' || in.cv > 'D' {
			return d.fail()
		}
		return d.pointee(in, around)
	case 'Q':
		return d.pointer("&&", 0, around)
	case 'R':
		return d.pointer("&&", 2, around)
	case 'T':
		return d.declare(d.lit("std::nullptr_t"), around)
	case 'Y': // an alias template
		return d.declare(d.scopedName(), around)
	}
	return d.fail()
}

// basicType reads a type that is a word, or a class or enumeration.
func (d *decoder) basicType(around declarator) text {
	switch c := d.peek(); {
	case c == 0:
		return d.declare(d.missing(), around)
	case c == '_':
		d.pos++
		return d.extendedType(around)
	case builtin[c] != "":
		d.pos++
		return d.declare(d.lit(builtin[c]), around)
	}
	return d.declare(d.classType(), around)
}

func (d *decoder) extendedType(around declarator) text {
	c := d.next()
	switch {
	case c == 0:
		return d.declare(d.missing(), around)
	case c == '$':
		return d.words(d.lit("__w64"), d.basicType(around))
	case newExtended[c] != "" && d.has(CurrentGrammar):
		return d.declare(d.lit(newExtended[c]), around)
	case c == 'X', c == 'Y':
		d.pos--
		return d.declare(d.classType(), around)
	case extended[c] != "":
		return d.declare(d.lit(extended[c]), around)
	}
	if d.has(CurrentGrammar) {
		return d.fail()
	}
	return d.declare(d.lit("UNKNOWN"), around)
}

// classType reads a class, union or enumeration. Any other letter stands for a name without a word in front.
func (d *decoder) classType() text {
	word := ""
	switch d.next() {
	case 'T':
		word = "union"
	case 'U':
		word = "struct"
	case 'V':
		word = "class"
	case 'W':
		return d.enumeration()
	case 'X':
		word = "coclass"
	case 'Y':
		word = "cointerface"
	}
	name := d.scopedName()
	if d.bad || name == 0 {
		return 0
	}
	if d.has(NameOnly) || d.has(NoECSU) {
		return name
	}
	return d.words(d.lit(word), name)
}

// enumeration reads the underlying type, which is printed where it is not int, and the name.
func (d *decoder) enumeration() text {
	c := d.next()
	if c < '0' || c > '7' {
		return d.fail()
	}
	of := [8]string{"char ", "unsigned char ", "short ", "unsigned short ", "", "unsigned int ", "long ",
		"unsigned long "}[c-'0']
	name := d.scopedName()
	switch {
	case d.bad:
		return 0
	case d.has(NoECSU):
		return name
	}
	return d.before("enum "+of, name)
}
