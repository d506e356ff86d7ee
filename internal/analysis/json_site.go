package analysis

import (
	"math"
	"strconv"
)

// appendSite appends a site as encoding/json writes it, which takes several times as long. Of traces it does: those
// have few sites for their size.
func appendSite(b []byte, s *Site) ([]byte, error) {
	if s.Lifetimes != nil || s.TableSites != nil {
		return appendJSON(b, s)
	}
	b = appendString(append(b, `{"signature":`...), s.Signature)
	b = appendString(append(b, `,"kind":`...), s.Kind)
	b = appendString(append(b, `,"heap":`...), s.Heap)
	b = appendAmount(append(b, `,"outstanding":`...), &s.Outstanding)
	if s.Growth != nil {
		b = appendAmount(append(b, `,"growth":`...), s.Growth)
	}
	if s.Unreachable != nil {
		b = appendAmount(append(b, `,"unreachable":`...), s.Unreachable)
	}
	b = append(b, `,"series":`...)
	b = appendList(b, s.Series, func(b []byte, p Point) []byte {
		b = strconv.AppendInt(append(b, `{"at_ns":`...), p.AtNS, 10)
		b = strconv.AppendInt(append(b, `,"count":`...), p.Count, 10)
		return append(strconv.AppendInt(append(b, `,"bytes":`...), p.Bytes, 10), '}')
	})
	if s.Score != nil {
		var err error
		if b, err = appendFloat(append(b, `,"score":`...), *s.Score); err != nil {
			return b, err
		}
	}
	b = appendString(append(b, `,"verdict":`...), string(s.Verdict))
	b = append(b, `,"blame":`...)
	if s.Blame == nil {
		b = append(b, "null"...)
	} else {
		b = appendBlame(b, s.Blame)
	}
	b = appendList(append(b, `,"flags":`...), s.Flags, appendString)
	if len(s.Traces) > 0 {
		b = appendList(append(b, `,"traces":`...), s.Traces, appendString)
	}
	b = strconv.AppendInt(append(b, `,"stack":`...), int64(s.Stack)-1, 10)
	if len(s.AliasStacks) > 0 {
		b = appendList(append(b, `,"aliases":`...), s.AliasStacks,
			func(b []byte, a StackRef) []byte { return strconv.AppendInt(b, int64(a)-1, 10) })
	}
	return append(b, '}'), nil
}

func appendBlame(b []byte, f *Blame) []byte {
	b = appendString(append(b, `{"module":`...), f.Module)
	b = appendString(append(b, `,"function":`...), f.Function)
	if f.Offset != "" {
		b = appendString(append(b, `,"offset":`...), f.Offset)
	}
	b = appendString(append(b, `,"file":`...), f.File)
	return append(strconv.AppendUint(append(b, `,"line":`...), uint64(f.Line), 10), '}')
}

func appendAmount(b []byte, a *Amount) []byte {
	b = strconv.AppendInt(append(b, `{"count":`...), a.Count, 10)
	return append(strconv.AppendInt(append(b, `,"bytes":`...), a.Bytes, 10), '}')
}

// appendList appends a list, null where there is none.
func appendList[T any](b []byte, list []T, add func([]byte, T) []byte) []byte {
	if list == nil {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i, it := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = add(b, it)
	}
	return append(b, ']')
}

// appendString appends a text in quotes. What JSON or HTML would need escapes for is left to encoding/json.
func appendString(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return append(b, quote(text)...)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}

// appendFloat appends a number. One that needs an exponent, or that JSON does not have, is left to encoding/json.
func appendFloat(b []byte, v float64) ([]byte, error) {
	if size := math.Abs(v); v != 0 && !(size >= 1e-6 && size < 1e21) {
		return appendJSON(b, v)
	}
	return strconv.AppendFloat(b, v, 'f', -1, 64), nil
}
