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
	Tools        string   // the programs that write it, for people: "UMDH"
	CaptureKinds []string // the kinds of captures that a file of the format gives
	// Column is the heading of the table column with what such evidence shows of one leak; "" for formats whose column
	// appears only where they show something.
	Column string
	// Rank orders the formats by how surely the address space in the evidence is that of the run's process: the highest
	// is used. It is 0 for evidence without an address space.
	Rank int
	// Searches says that such evidence may tell which blocks nothing points to.
	Searches bool
	// ArchivePriority decides which of the formats in an archive names the archive: the one with the highest number, of
	// equals the first.
	ArchivePriority int
	// Together says that several files may be one recording. They are read as one; each is read alone if the run has
	// other evidence, too.
	Together bool
	// Random says that the reader needs random access: the file should lie on a local disk.
	Random bool
	// Anywhere says that the evidence may begin anywhere in a text, such as the log of a CI job. Files that no other format
	// takes are tried for it.
	Anywhere bool
	// RatioExempt is how many bytes may come out of an archive whatever its compression ratio, for evidence that is
	// mostly zeros.
	RatioExempt int64
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

// Formats are all formats that are read, in the order in which a file is tried for them.
type Formats []Format

// Of returns the format of a kind, and the zero Format for a kind that is not read.
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

// Name is how a sentence names a kind, with its article: "a trace"; the kind itself where it is not read.
func (list Formats) Name(kind string) string {
	return cmp.Or(list.Of(Kind(kind)).Name, kind)
}

// Rank is the Format.Rank of the format that gives captures of a kind; 0 where none does.
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
