package push

// The codes of errors of this package. They are stable.
const (
	CodeURL          = "bad-url"
	CodeToken        = "bad-token"
	CodeNotHeapdrift = "not-heapdrift"
	CodeNoProject    = "no-project"
	CodeUnreachable  = "unreachable"
	CodeNoFile       = "no-file"
	CodeFolder       = "folder"
	CodeEmptyFile    = "empty-file"
	CodeChanged      = "file-changed"
	CodeUnreadable   = "unreadable"
	CodeOffset       = "bad-offset"
	CodeDigest       = "digest-mismatch"
	CodeRefused      = "refused"
	CodeOldServer    = "old-server"
	CodeNoCommits    = "no-commits"
)

// An Error says what is wrong with a file or a server, and what to do next.
type Error struct {
	Code    string
	File    string // "" where it is about no file
	Message string
	Do      string // "" where there is nothing to advise
	Err     error  // the cause; nil where there is none
}

func (e *Error) Error() string {
	text := e.Message
	if e.File != "" {
		text = e.File + ": " + text
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	if e.Do != "" {
		text += "; " + e.Do
	}
	return text
}

// Unwrap returns the error that caused this one; nil for none.
func (e *Error) Unwrap() error { return e.Err }
