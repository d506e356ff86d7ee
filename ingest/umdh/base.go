package umdh

import (
	"bytes"
	"fmt"

	"heapdrift/ingest/evidence"
)

// A Base is the number base of the counters in a difference. umdh -d changes it and the file does not say so.
type Base uint8

// The bases. BaseAuto takes what the file proves.
const (
	// The bases. BaseAuto stands for the base that the file proves, or decimal.
	BaseAuto Base = iota
	BaseDecimal
	BaseHex
)

// ParseBase reads the name of a base: "auto", "dec" or "hex".
func ParseBase(name string) (Base, error) {
	for b := BaseAuto; b <= BaseHex; b++ {
		if name == b.String() {
			return b, nil
		}
	}
	return BaseAuto, &evidence.Error{Code: CodeBadBase, Message: fmt.Sprintf("%q is not a number base", name),
		Do: "use auto, dec or hex"}
}

// String is the name that ParseBase reads.
func (b Base) String() string {
	switch b {
	case BaseDecimal:
		return "dec"
	case BaseHex:
		return "hex"
	}
	return "auto"
}

// digits is a number whose base is not known yet: its digits, four bits each. As a hexadecimal number that is its
// value.
type digits uint64

// in gives the value in a base. ok is false where it has digits that the base has not.
func (d digits) in(b Base) (value int64, ok bool) {
	if b == BaseHex {
		return int64(d), d < maxSize
	}
	for shift := 60; shift >= 0; shift -= 4 {
		digit := int64(d >> shift & 0xF)
		if digit > 9 {
			return 0, false
		}
		value = value*10 + digit
	}
	return value, value < maxSize
}

// letters reports whether a digit is one that only hexadecimal numbers have.
func (d digits) letters() bool {
	const high = 0x8888888888888888
	return (d&high)&(d<<1|d<<2) != 0
}

// baseProof gathers what a difference shows about its base, in the order in which it counts: letters; the widths to
// which umdh pads the two numbers in parentheses, 6 for decimal and 5 for hexadecimal; sums that only hold in one.
type baseProof struct {
	numbers tally // that differ between the bases, so that it matters
	letters tally
	commas  tally // thousands separators, which only people and decimal numbers have
	width6  tally
	width5  tally
	sumsDec tally // that hold in decimal and not in hexadecimal
	sumsHex tally
}

// merge adds what later lines show.
func (e *baseProof) merge(later *baseProof) {
	e.numbers.merge(later.numbers)
	e.letters.merge(later.letters)
	e.commas.merge(later.commas)
	e.width6.merge(later.width6)
	e.width5.merge(later.width5)
	e.sumsDec.merge(later.sumsDec)
	e.sumsHex.merge(later.sumsHex)
}

// number reads a counter at the head of b; commas are passed over.
func (e *baseProof) number(b []byte, line int64) (d digits, rest []byte, ok bool) {
	n := 0
	for ; n < len(b); n++ {
		if b[n] == ',' && n > 0 {
			e.commas.add(line)
			continue
		}
		digit := hexDigit[b[n]]
		if digit < 0 {
			break
		}
		if d>>60 != 0 {
			return 0, b, false
		}
		d = d<<4 | digits(digit)
	}
	if d > 9 {
		e.numbers.add(line)
	}
	if d.letters() {
		e.letters.add(line)
	}
	return d, b[n:], n > 0
}

// padded reads a counter that may be padded on its left, and notes how wide it is with the padding.
func (e *baseProof) padded(b []byte, line int64) (d digits, rest []byte, ok bool) {
	blank := len(b) - len(bytes.TrimLeft(b, " "))
	d, rest, ok = e.number(b[blank:], line)
	if blank == 0 || !ok {
		return d, rest, ok // a number that fills its field proves nothing, nor one whose padding was lost
	}
	switch len(b) - len(rest) {
	case 6:
		e.width6.add(line)
	case 5:
		e.width5.add(line)
	}
	return d, rest, ok
}

// sum notes an equation that the file claims.
func (e *baseProof) sum(decimal, hex bool, line int64) {
	switch {
	case decimal && !hex:
		e.sumsDec.add(line)
	case hex && !decimal:
		e.sumsHex.add(line)
	}
}

// proof says which base the file proves, why, and where; BaseAuto if none.
func (e *baseProof) proof() (b Base, why string, line int64) {
	switch dec, hex := e.sumsDec.n, e.sumsHex.n; {
	case e.letters.n > 0:
		return BaseHex, "counters have letters", e.letters.line
	case e.commas.n > 0:
		return BaseDecimal, "counters have thousands separators", e.commas.line
	case e.width6.n > 0 && e.width5.n == 0 && hex == 0:
		return BaseDecimal, "counters are padded to 6 columns", e.width6.line
	case e.width5.n > 0 && e.width6.n == 0 && dec == 0:
		return BaseHex, "counters are padded to 5 columns", e.width5.line
	case dec > 0 && hex == 0:
		return BaseDecimal, "sums hold in decimal only", e.sumsDec.line
	case hex > 0 && dec == 0:
		return BaseHex, "sums hold in hexadecimal only", e.sumsHex.line
	}
	return BaseAuto, "", 0
}
