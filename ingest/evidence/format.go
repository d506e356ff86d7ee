package evidence

import (
	"cmp"
	"slices"
	"strings"
)

// A Kind is a format of evidence that there is a reader for.
type Kind string

// A Format holds the facts about a format, except for its reader.
type Format struct {
	Kind         Kind
	Name         string   // with its article: "a trace"
	Plural       string   // in lists: "ETW traces"
	Extensions   []string // of its files, with the dot; the first bytes decide, never the name
	Tools        string   // what writes it
	CaptureKinds []string // the kinds of captures that a file of the format gives
	// Column is what a column is called that says what such evidence shows of one leak; "" for formats of which nobody
	// expects that: they have a column only where they show it.
	Column string
	// Rank says how sure it is that the address space in the evidence is that of the run's process; 0 for evidence without
	// one.
	Rank int
	// Searches says that such evidence may tell to which blocks nothing points, because somebody has looked for pointers
	// to them.
	Searches bool
	// Leads decides what an archive of several formats is called: the format that leads most, of equals the first.
	Leads int
	// Together says that several files may be one recording. They are read as one, and alone where other evidence lies
	// beside.
	Together bool
	// Random says that the evidence is read at random: it should lie on a disk nearby.
	Random bool
	// Anywhere says that the evidence may begin anywhere in a text, such as the log of a CI job. Files that no other format
	// takes are tried for it.
	Anywhere bool
	// Free is how many bytes may come out of an archive at any ratio, for evidence that packs to nothing.
	Free int64
	// Sniff reports whether a file's first bytes, up to 64 KiB, are those of the format.
	Sniff func(head []byte) bool
}

// Files are the plural and the extensions: "ETW traces (.etl)".
func (f *Format) Files() string {
	if len(f.Extensions) == 0 {
		return f.Plural
	}
	return f.Plural + " (" + strings.Join(f.Extensions, ", ") + ")"
}

// HasExtension reports whether a file is named as one of the format.
func (f *Format) HasExtension(name string) bool {
	return slices.ContainsFunc(f.Extensions,
		func(ext string) bool { return strings.HasSuffix(strings.ToLower(name), ext) })
}

// Formats are all that are read, in the order in which a file is tried for them.
type Formats []Format

// Of returns the format of a kind, and a zero one of a kind that is not read.
func (list Formats) Of(kind Kind) Format {
	if f := list.find(func(f *Format) bool { return f.Kind == kind }); f != nil {
		return *f
	}
	return Format{}
}

// Sniffed returns the format of a file that begins with head; nil where none is known.
func (list Formats) Sniffed(head []byte) *Format {
	if f := list.find(func(f *Format) bool { return !f.Anywhere && f.Sniff(head) }); f != nil {
		return f
	}
	return list.find(func(f *Format) bool { return f.Anywhere && f.Sniff(head) })
}

// Name is what a kind is called in a sentence, with its article; the kind itself where it is not read.
func (list Formats) Name(kind string) string {
	return cmp.Or(list.Of(Kind(kind)).Name, kind)
}

// Rank is how surely captures of a kind show the address space; 0 for captures of no format.
func (list Formats) Rank(captureKind string) int {
	if f := list.find(func(f *Format) bool { return slices.Contains(f.CaptureKinds, captureKind) }); f != nil {
		return f.Rank
	}
	return 0
}

// Files lists what is read, for people: "ETW traces (.etl), full dumps (.dmp) and logs of WinDbg".
func (list Formats) Files() string {
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Files()
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

func (list Formats) find(is func(*Format) bool) *Format {
	if i := slices.IndexFunc(list, func(f Format) bool { return is(&f) }); i >= 0 {
		return &list[i]
	}
	return nil
}
