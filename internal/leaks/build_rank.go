package leaks

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"
	"time"
)

// A Build has the facts that decide the rank of a build in its project.
type Build struct {
	ID       int64
	Name     string    // no two builds of a project have the same
	Sequence *int64    // as the upload declares it, or as the name does; nil for none
	At       time.Time // when its first evidence was taken, where evidence says so, else when the first arrived
}

// A BuildRank is the sort key of a build in its project: compared byte by byte, that of an older build is less. It
// depends on the build's own facts, and not on other builds: a new build between two others does not change theirs.
type BuildRank []byte

// CompareRanks compares two ranks; the older build comes first.
func CompareRanks(a, b BuildRank) int { return bytes.Compare(a, b) }

// SequenceOfName is the sequence number in the name of a build: a name that is a number is its own. ok is false for
// other names.
func SequenceOfName(name string) (sequence int64, ok bool) {
	n, err := strconv.ParseInt(name, 10, 64)
	return n, err == nil
}

// What a rank begins with. Builds without a sequence are older than those with one: a project begins to declare
// sequences once, and its older builds are those that it had before.
const (
	rankNatural  byte = iota // by name
	rankByTime               // by evidence
	rankDeclared             // by sequence
)

// RankBuilds returns the ranks of the builds of a project, which may come in any order; element i is the rank of
// builds[i]. A sequence decides. Builds without one stand in the natural order of their names where these have one
// form, else by time. Of builds that tie the names decide: no two ranks are equal.
func RankBuilds(builds []Build) []BuildRank {
	_, natural := shapeOfUndeclared(builds)
	ranks := make([]BuildRank, len(builds))
	for i := range builds {
		ranks[i] = rankOf(&builds[i], natural)
	}
	return ranks
}

func rankOf(b *Build, natural bool) BuildRank {
	var rank []byte
	switch {
	case b.Sequence != nil:
		rank = declaredRank(*b.Sequence)
	case natural:
		rank = []byte{rankNatural}
	default:
		rank = ascending([]byte{rankByTime}, b.At.UnixMicro())
	}
	return append(appendNatural(rank, b.Name), b.Name...)
}

// declaredRank is what the ranks of builds with a sequence begin with.
func declaredRank(sequence int64) BuildRank { return ascending([]byte{rankDeclared}, sequence) }

// ascending appends a number so that the bytes of a less one are less.
func ascending(rank []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(rank, uint64(n)^1<<63)
}

// shapeOfUndeclared is the shape that the names of all builds without a sequence have; ok is false where they have
// several, and where there is no such build.
func shapeOfUndeclared(builds []Build) (shape string, ok bool) {
	for i := range builds {
		switch b := &builds[i]; {
		case b.Sequence != nil:
		case !ok:
			shape, ok = shapeOf(b.Name), true
		case shapeOf(b.Name) != shape:
			return "", false
		}
	}
	return shape, ok
}

// shapeOf is a name with a mark instead of each run of digits: 2024.1-rc2 and 2024.1-rc10 have one shape.
func shapeOf(name string) string {
	var shape strings.Builder
	for name != "" {
		text, digits, rest := cutDigits(name)
		shape.WriteString(text)
		if digits != "" {
			shape.WriteByte(0) // which no name has
		}
		name = rest
	}
	return shape.String()
}

// appendNatural appends a name so that the bytes of two names of one shape compare as their numbers do, from the first
// to the last. A number is the count of its digits, as numbers may be longer than any integer, and the digits; zeros in
// front of it do not count.
func appendNatural(rank []byte, name string) []byte {
	for name != "" {
		text, digits, rest := cutDigits(name)
		rank = append(rank, text...)
		if digits != "" {
			number := strings.TrimLeft(digits, "0")
			rank = binary.BigEndian.AppendUint16(append(rank, '0'), uint16(len(number))) // names have at most 128 characters
			rank = append(rank, number...)
		}
		name = rest
	}
	return append(rank, 0)
}

// cutDigits cuts the first run of digits out of a name.
func cutDigits(name string) (text, digits, rest string) {
	isDigit := func(r rune) bool { return '0' <= r && r <= '9' }
	from := strings.IndexFunc(name, isDigit)
	if from < 0 {
		return name, "", ""
	}
	to := len(name)
	if n := strings.IndexFunc(name[from:], func(r rune) bool { return !isDigit(r) }); n >= 0 {
		to = from + n
	}
	return name[:from], name[from:to], name[to:]
}
