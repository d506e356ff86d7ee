// Package suppressions reads and writes the files by which LeakSanitizer, Valgrind and Dr. Memory are told which leaks
// to pass over. One file may hold all three forms; Dr. Memory documents that it takes Valgrind's.
//
//	leak:PATTERN                        LeakSanitizer: PATTERN is in a function, module or file of any frame;
//	                                    * is any text, ^ and $ are the start and end of the name
//
//	{                                   Valgrind: each brace alone on its line
//	   NAME
//	   Memcheck:Leak                    tools, with commas between, and the kind of error
//	   match-leak-kinds: definite,…     or all; without the line all
//	   fun:GLOB                         innermost frame first; C++ names are mangled
//	   obj:GLOB                         path of a module
//	   ...                              any number of frames
//	}
//
//	LEAK                                Dr. Memory: the kind of error
//	name=NAME
//	MODULE!FUNCTION                     innermost frame first, names as in the source; "MODULE!..." is one or more
//	...                                 frames of a module, "*" any frame, <MODULE+0xOFFSET> an offset in it
//
// # begins a comment. Valgrind and Dr. Memory match the inner end of a stack: frames further out do not count.
//
// Sources: "Suppressions" in the documentation of AddressSanitizer and LeakSanitizer; "Suppressing errors" in the
// manual of Valgrind's core, with match-leak-kinds in Memcheck's; "Suppressing Errors" in Dr. Memory's documentation.
// Mangled names: the Itanium C++ ABI, section 5.1.
package suppressions

// A Form is the file format of one tool's suppressions.
type Form string

// The forms.
const (
	LSan     Form = "lsan"
	Valgrind Form = "valgrind"
	DrMemory Form = "drmemory"
)

// Forms lists all forms.
var Forms = []Form{LSan, Valgrind, DrMemory}

// Tool is the name of the tool that reads the form.
func (f Form) Tool() string {
	switch f {
	case LSan:
		return "LeakSanitizer"
	case Valgrind:
		return "Valgrind"
	case DrMemory:
		return "Dr. Memory"
	}
	return ""
}

// A Suppression is one entry of a file that is about leaks.
type Suppression struct {
	Form Form
	Line int    // where it begins in the file, from 1
	Name string // "" for none; for LeakSanitizer the pattern as it is written
	// Pattern is the glob of LeakSanitizer for a whole name; Frames is empty then. It is "" for other forms.
	Pattern string
	Frames  []Frame // innermost first
}

// A Frame is a pattern for frames. In globs * is any text and ? one character.
type Frame struct {
	Module   string // glob of its name or, with a slash, of its path; "" for any
	Function string // glob of the name as in the source, without arguments; "" for any
	// Many matches any number of frames; with a Module, one or more of it.
	Many bool
}

// A Rejection is a line that heapdrift has no rule for.
type Rejection struct {
	Line         int    // from 1
	Text, Reason string // the line, and why it has none
}

// MaxFrames is how many frames an entry may have.
const MaxFrames = 63
