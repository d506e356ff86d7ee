package leaks

// ActorLine is the actor, in place of a person, where the signature of a line of source became part of a leak whose
// call stack allocates at that line. Evidence without call stacks, such as the debug CRT's list, gives a leak the
// former.
const ActorLine = "a line without a call stack"

// A LineSignature is the signature of a line of source that a run shows to be part of a leak with a call stack, or to
// be of several.
type LineSignature struct {
	ID, RootID int64
	By         string // who made it part of another; "" where it is none, or where its sites moved
	IsPart     bool
	WasPart    bool  // ActorLine made it part of a leak before, and it is not by now: a person or a run took it back
	IntoID     int64 // the leak that the run shows it to be part of; 0 where the run shows several
}

// A LineAction is what becomes of the signature of a line.
type LineAction int8

// The actions.
const (
	KeepLine  LineAction = iota
	JoinLine             // it becomes part of the leak
	LeaveLine            // it is a leak of its own again
)

// Action decides. One line that two runs show to be of two leaks is part of neither: in a run without call stacks
// nobody can tell which it is. It stays apart from then on, and so does one that a person took out.
func (l *LineSignature) Action() LineAction {
	switch {
	case l.IsPart && l.By == ActorLine && l.IntoID != l.RootID:
		return LeaveLine
	case l.IsPart, l.WasPart, l.IntoID == 0, l.IntoID == l.ID:
		return KeepLine
	}
	return JoinLine
}
