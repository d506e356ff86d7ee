package symsrv

import (
	"path"
	"strings"
)

const (
	pointerName = "file.ptr"   // a text file in place of the file: see pointer.go
	indexName   = "index2.txt" // in a store's root: the store is two-tier; its content means nothing
	msfzName    = "msfz0"      // the folder below KEY where MSFZ containers of version 0 lie
	stagingName = ".heapdrift" // in the root of a store that is written to: files that are not whole yet
)

// CompressedName returns the name under which a store holds the file compressed: the last character becomes "_".
func CompressedName(name string) string {
	if name == "" {
		return ""
	}
	runes := []rune(name)
	return string(runes[:len(runes)-1]) + "_"
}

// tierOf returns the first two characters of a name without the dot that would end the directory's name: Windows
// drops it. One character is its own tier.
func tierOf(name string) string {
	runes := []rune(name)
	tier := strings.TrimRight(string(runes[:min(2, len(runes))]), ". ")
	if tier == "" {
		return name
	}
	return tier
}

// A Form is the shape in which a store holds, or is asked for, a file.
type Form string

// The forms.
const (
	FormPlain      Form = "plain"      // the file itself
	FormCompressed Form = "compressed" // name ends in "_": a cabinet, or a zip of newer symstore versions
	FormPointer    Form = "pointer"    // file.ptr: text that says where the file is
	FormMSFZ       Form = "msfz"       // an MSFZ container, in the folder msfz0
)

// A Request is a client's request to a symbol server, taken apart.
type Request struct {
	Identity Identity // Name and key as the client wrote them
	Form     Form
	TwoTier  bool // na/name/KEY/file was asked for
}

// ParseRequest takes apart the path below a server's root, percent-decoded, with or without a slash before it:
// name/KEY/file or na/name/KEY/file, where file is the name, the compressed name, file.ptr or msfz0/name. It is not
// ok for anything else, index2.txt included. A name in the result is safe as one part of a path, and a key consists
// of hexadecimal digits. Where it is not ok, the Request means nothing.
//
// The key is a PDB's where the name ends in .pdb or the key is too long for an image's.
func ParseRequest(request string) (Request, bool) {
	parts := strings.Split(strings.TrimPrefix(request, "/"), "/")
	var r Request
	if n := len(parts); n >= 4 && parts[n-2] == msfzName {
		r.Form = FormMSFZ
		parts = append(parts[:n-2:n-2], parts[n-1])
	}
	if len(parts) == 4 {
		if !strings.EqualFold(parts[0], tierOf(parts[1])) {
			return Request{}, false
		}
		r.TwoTier = true
		parts = parts[1:]
	}
	if len(parts) != 3 {
		return Request{}, false
	}
	name, key, file := parts[0], parts[1], parts[2]
	if badName(name) != "" {
		return Request{}, false
	}
	switch {
	case strings.EqualFold(file, name):
		if r.Form == "" {
			r.Form = FormPlain
		}
	case r.Form == FormMSFZ:
		return Request{}, false
	case strings.EqualFold(file, CompressedName(name)):
		r.Form = FormCompressed
	case strings.EqualFold(file, pointerName):
		r.Form = FormPointer
	default:
		return Request{}, false
	}
	r.Identity.Name = name
	if len(key) <= 16 && !strings.EqualFold(path.Ext(name), ".pdb") {
		var ok bool
		r.Identity.Timestamp, r.Identity.SizeOfImage, ok = imageKey(key)
		return r, ok
	}
	r.Identity.DebugID = key
	return r, debugKey(key)
}
