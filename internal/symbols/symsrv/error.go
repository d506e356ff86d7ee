package symsrv

import "fmt"

// The codes of errors. They are stable: callers tell cases apart by them.
const (
	CodeUnknownKeyword = "unknown-keyword"  // something other than srv, symsrv or cache before the first asterisk
	CodeUnknownDLL     = "unknown-dll"      // symsrv* names a symbol server that is not symsrv.dll
	CodeBareURL        = "url-without-srv"  // a URL that is not part of a srv* chain
	CodeURLNotLast     = "url-not-last"     // a chain goes on after a server
	CodeBadURL         = "bad-url"          // a URL that cannot be asked
	CodeBadCache       = "bad-cache"        // cache* with more than one directory, or with a server
	CodeTooLong        = "too-long"         // a symbol path longer than Windows allows
	CodeBadMapping     = "bad-mapping"      // a mapping that is not PREFIX=DIRECTORY
	CodeBadProxy       = "bad-proxy"        // a proxy that is neither host:port nor a URL
	CodeBadIdentity    = "bad-identity"     // a name or key that cannot be part of a store's path
	CodeNotFound       = "not-found"        // every place was tried; the attempts say how
	CodeTooMany        = "too-many-by-name" // FindByName stopped at its limit
	CodeUnreadable     = "unreadable"       // FindByName could not look into a directory
)

// An Error says what is wrong with a symbol path or with what was asked of it. Element is the part of the path
// concerned, as it was written but for passwords, and Position counts the elements from 1; both are zero where no
// element is.
type Error struct {
	Code     string
	Element  string
	Position int
	Message  string
	Err      error // cause, or nil
}

func (e *Error) Error() string {
	s := "symsrv: " + e.Message
	if e.Position > 0 {
		s += fmt.Sprintf(" (element %d of the symbol path, %q)", e.Position, e.Element)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the error that caused this one; nil for none.
func (e *Error) Unwrap() error { return e.Err }
