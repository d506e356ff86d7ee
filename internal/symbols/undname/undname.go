package undname

import "strings"

// maxName bounds the names that are read, in bytes. Compilers cut decorated names at 4 KiB.
const maxName = 64 << 10

// Undecorate returns the declaration of a decorated name. A name that is not decorated, or not in the grammar, is
// returned as it is.
func Undecorate(name string, flags Flags) string {
	if !decorated(name, flags) {
		return name
	}
	var buf [256]byte
	out := AppendUndecorate(buf[:0], name, flags)
	if string(out) == name {
		return name
	}
	return string(out)
}

// AppendUndecorate appends what Undecorate returns to dst.
func AppendUndecorate(dst []byte, name string, flags Flags) []byte {
	if !decorated(name, flags) {
		return append(dst, name...)
	}
	d := newDecoder(name, flags)
	defer d.free()
	var all text
	ok := false
	if flags&TypeOnly != 0 {
		all, ok = d.wholeType()
	}
	if !ok && name[0] == '?' {
		*d = decoder{name: name, flags: flags, nodes: d.nodes[:1], stack: d.stack}
		all, ok = d.wholeSymbol()
	}
	if !ok {
		return append(dst, name...)
	}
	out, ok := d.appendText(dst, all)
	if !ok || len(out) == len(dst) {
		return append(out[:len(dst)], name...)
	}
	return out
}

// decorated tells whether a name is worth reading.
func decorated(name string, flags Flags) bool {
	return len(name) > 1 && len(name) <= maxName && (name[0] == '?' || flags&TypeOnly != 0) &&
		strings.IndexByte(name, 0) < 0
}

// wholeSymbol reads the name of a function, variable or special object. It is false where that name stays as it is.
func (d *decoder) wholeSymbol() (text, bool) {
	d.pos++ // "?"
	if d.peek() == '@' || d.peek() == '?' && d.peekAt(1) == '@' {
		return 0, false // "??@" and a hash: the compiler has thrown the name away
	}
	if d.peek() == '$' && !d.compilerVariable() {
		d.pos++
		all := d.templateName(true)
		return all, !d.bad && !d.stop && d.complete()
	}
	all := d.declaration(true)
	if d.bad || d.stop || !d.complete() || !d.has(NameOnly) && !d.atEnd() {
		return 0, false
	}
	return all, true
}

// complete tells whether the name went on for as long as its grammar asks, where that matters: the measured
// undecorator prints what it has.
func (d *decoder) complete() bool { return !d.cut || !d.has(CurrentGrammar) }

// compilerVariable reports whether a name that begins like a template is of a variable that the compiler has made.
// Examples are the guard of a thread-safe static ($TSS0) and a temporary bound to a reference ($RT1). The measured
// undecorator takes them for templates.
func (d *decoder) compilerVariable() bool {
	rest := d.name[d.pos:]
	return d.has(CurrentGrammar) && (strings.HasPrefix(rest, "$TSS") || strings.HasPrefix(rest, "$RT"))
}

// wholeType reads a type: ".?AVfoo@@" of RTTI without its dot, or the type within a name.
func (d *decoder) wholeType() (text, bool) {
	d.depth++ // parameters within a type are never those of a symbol
	all := d.dataType(declarator{})
	return all, !d.bad && !d.stop && d.atEnd() && all != 0
}
