package blame

import "strings"

// comparedFrames bounds what Similar looks at.
const comparedFrames = 64

// Similarity says how alike the frames of two signatures are, from 0 to 1, for suggestions that one is the other
// renamed, moved or inlined otherwise. It is the best alignment of both lists. The frame to blame counts twice; a
// function in another module or class counts in part.
func Similarity(a, b []string) float64 {
	a, b = a[:min(len(a), comparedFrames)], b[:min(len(b), comparedFrames)]
	if len(a) == 0 || len(b) == 0 {
		if len(a) == len(b) {
			return 1
		}
		return 0
	}
	before, here := make([]float64, len(b)+1), make([]float64, len(b)+1)
	for i := range a {
		for j := range b {
			both := before[j] + alike(a[i], b[j])*(weight(i)+weight(j))/2
			here[j+1] = max(both, before[j+1], here[j])
		}
		before, here = here, before
	}
	return min(1, 2*before[len(b)]/float64(len(a)+len(b)+2))
}

func weight(place int) float64 {
	if place == 0 {
		return 2
	}
	return 1
}

// alike says how likely two frames are the same function: by module, class and name.
func alike(a, b string) float64 {
	if a == b {
		return 1
	}
	moduleA, functionA := splitModule(a)
	moduleB, functionB := splitModule(b)
	if functionA == "" || functionB == "" || strings.HasPrefix(functionA, "<unknown>") ||
		strings.HasPrefix(functionB, "<unknown>") {
		return 0
	}
	if functionA == functionB {
		return 0.9
	}
	classA, nameA := splitClass(functionA)
	classB, nameB := splitClass(functionB)
	switch {
	case nameA == nameB && moduleA == moduleB:
		return 0.75
	case nameA == nameB:
		return 0.5
	case classA != "" && classA == classB && moduleA == moduleB:
		return 0.35
	}
	return 0
}

// MayBeSameFunction reports whether two frames may be one function under two names: their class is the same, or only
// the namespace differs.
func MayBeSameFunction(a, b string) bool { return alike(a, b) > 0 }

func splitModule(frame string) (module, function string) {
	module, function, ok := strings.Cut(frame, "!")
	if !ok {
		return "", frame
	}
	return module, function
}

func splitClass(function string) (class, name string) {
	if i := strings.LastIndex(function, "::"); i >= 0 {
		return function[:i], function[i+2:]
	}
	return "", function
}
