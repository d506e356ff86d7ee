// Package score says how sure it is that what grows is a leak. It knows numbers only: how much of one signature was
// outstanding at instants, or when the allocations of a trace began and ended. docs/method.md publishes the method and how
// well it does.
package score

import (
	"slices"
)

// A Class is what growth looks like.
type Class string

// The classes.
const (
	Leak      Class = "leak"
	Growing   Class = "growing"   // grows, and the evidence does not decide
	Cache     Class = "cache"     // fills up: growth that ends, or falls off
	OneTime   Class = "one-time"  // grew in one burst or a few
	Transient Class = "transient" // what is allocated does not stay
	Stable    Class = "stable"    // does not grow
	Unknown   Class = "unknown"   // the evidence shows one instant, or no order of instants
)

// Classes are the classes by how much they ask for a look, the gravest last.
var Classes = []Class{Stable, Unknown, Transient, OneTime, Cache, Growing, Leak}

// Gravity is higher the more a class asks for a look; −1 of what is no class.
func (c Class) Gravity() int { return slices.Index(Classes, c) }

// IsSuspect reports whether memory leaks, or grows and the evidence does not decide.
func (c Class) IsSuspect() bool { return c == Leak || c == Growing }

// A Clause is one condition of the rule, as a line of evidence that users read.
type Clause struct {
	Rule string `json:"rule"` // its stable id: "snapshots", "slope", "fit", "trailing", "rises", "survival", …
	// Holds is whether it is met; nil where the evidence cannot tell.
	Holds *bool  `json:"holds"`
	Text  string `json:"text"` // with the numbers, as in "grew in 5 of 5 intervals"
}

// A Rate is growth per unit of the axis, with its interval of 95 %.
type Rate struct {
	Unit      string  `json:"unit"` // "hour", or the name of the work counter: "document"
	Count     float64 `json:"count"`
	CountLow  float64 `json:"count_low"`
	CountHigh float64 `json:"count_high"`
	Bytes     float64 `json:"bytes"`
	BytesLow  float64 `json:"bytes_low"`
	BytesHigh float64 `json:"bytes_high"`
	// Over is for how many units it was watched. Dispersion is the variance of what came in stretches of that over its mean,
	// 1 at least: how much it comes in bursts.
	Over       float64 `json:"over"`
	Dispersion float64 `json:"dispersion"`
}

// A Result is the judgement on one signature.
type Result struct {
	Score   float64 // 0 to 1: of what looked like this in generated programs, so much leaked
	Model   float64 // what the model says before calibration, for leakeval to fit it
	Class   Class
	Certain bool     // a leak that may fail a gate: the rule holds and Score is 0.9 or more
	Clauses []Clause // of the Explain functions only
	Rate    *Rate    // nil where there is no growth to speak of
}

// An Axis is the coordinate of the instants.
type Axis struct {
	Unit string    // "hour", or the name of the work counter
	At   []float64 // ascending, in that unit
}

// A Series is one signature over snapshots.
type Series struct {
	Count, Bytes []int64
	// Survivors is how many blocks that were first seen in a snapshot between the first and the last one are in every later
	// one; −1 where addresses are not known.
	Survivors int64
}

// decided is what growth of a class is called that has a score: a leak from leakScore on, where the evidence is enough to say so.
func (c Class) decided(score float64, enough bool) Class {
	switch c {
	case Unknown, Stable:
		return c
	case Leak, Growing, Cache, OneTime, Transient:
	}
	if enough && score >= leakScore {
		return Leak
	}
	if c == Leak {
		return Growing
	}
	return c
}
