package push

// The codes of errors of this package. They are stable.
const (
	CodeURL          = "bad-url"         // the address is none of a server
	CodeToken        = "bad-token"       // the token has characters that no token has; nothing was sent
	CodeNotHeapdrift = "not-heapdrift"   // an answer is not one of the API
	CodeNoProject    = "no-project"      // the server does not have the project
	CodeUnreachable  = "unreachable"     // no answer, or only 5xx, in all tries
	CodeNoFile       = "no-file"         // no file has the name, or matches the pattern
	CodeFolder       = "folder"          // a folder where a file belongs
	CodeEmptyFile    = "empty-file"      // a file of 0 bytes
	CodeChanged      = "file-changed"    // the file changed while it was sent
	CodeUnreadable   = "unreadable"      // the file or folder cannot be read
	CodeOffset       = "bad-offset"      // the server is at another byte of the upload than it may be
	CodeDigest       = "digest-mismatch" // the server has other contents of the file than were sent
	CodeOldServer    = "old-server"      // the server lacks an endpoint that the command needs
	CodeNoCommits    = "no-commits"      // the file of --ancestors is empty
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
