package leaks

import "heapdrift/internal/analysis"

// A Judgement is what the runs of one build in one scenario say of a signature. Of several runs the gravest counts.
type Judgement int8

// The judgements, the gravest last.
const (
	JudgedUndecided Judgement = iota // it is there, and the evidence does not tell whether it leaks
	JudgedClean                      // it is there, and does not leak
	JudgedGrowing                    // it grows, and the evidence does not decide
	JudgedLeaking
)

// JudgementOf is what one finding says: its class, and the status of the run's verdict. A clean finding counts only
// where the run could tell a leak from what is none.
func JudgementOf(class analysis.Class, status analysis.VerdictStatus) Judgement {
	switch {
	case class == analysis.ClassLeak:
		return JudgedLeaking
	case class.IsSuspect():
		return JudgedGrowing
	case class == analysis.ClassUnknown || status == analysis.StatusInconclusive:
		return JudgedUndecided
	}
	return JudgedClean
}

// IsBad reports whether the signature leaks or grows.
func (j Judgement) IsBad() bool { return j >= JudgedGrowing }

// Class is the class for a judgement where no finding gives one.
func (j Judgement) Class() analysis.Class {
	switch j {
	case JudgedLeaking:
		return analysis.ClassLeak
	case JudgedGrowing:
		return analysis.ClassGrowing
	case JudgedClean:
		return analysis.ClassStable
	default:
		return analysis.ClassUnknown
	}
}
