package symsrv

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An Identity is the name and key under which a symbol store has one build of a PDB or image.
type Identity struct {
	Name string // file name; of a path, with slashes or backslashes, the last part counts

	// DebugID is of a PDB: the GUID's 32 hexadecimal digits and the age, in hexadecimal without leading zeros; of a
	// PDB of Visual C++ 6, the 8 digits of its signature and the age. Braces and hyphens are left out of the key.
	DebugID string

	// Timestamp and SizeOfImage are of an image: the fields TimeDateStamp and SizeOfImage of its headers.
	Timestamp   uint32
	SizeOfImage uint32
}

// Key returns the directory that a store has for the identity: the DebugID as it is written, without braces and
// hyphens; for an image the timestamp as %08X and the size as %x. It is empty where neither is known.
func (id Identity) Key() string {
	if id.DebugID != "" {
		return strings.Map(func(r rune) rune {
			if r == '-' || r == '{' || r == '}' {
				return -1
			}
			return r
		}, id.DebugID)
	}
	if id.SizeOfImage == 0 {
		return ""
	}
	return fmt.Sprintf("%08X%x", id.Timestamp, id.SizeOfImage)
}

// Path returns the identity's place in a store, with slashes: name/KEY/name.
func (id Identity) Path() string {
	name := BaseName(id.Name)
	return name + "/" + id.Key() + "/" + name
}

// BaseName returns what follows the last slash or backslash. RSDS records hold the path of the machine that linked the
// image; nothing but the last part is of use, or to be trusted, anywhere else.
func BaseName(path string) string {
	return path[strings.LastIndexAny(path, `/\`)+1:]
}

// checked returns the identity with the base name only, or why it cannot be looked for.
func (id Identity) checked() (Identity, error) {
	if id.Name == "" {
		return id, &Error{Code: CodeBadIdentity, Message: "a file without a name cannot be looked for"}
	}
	name := BaseName(id.Name)
	if why := badName(name); why != "" {
		return id, &Error{Code: CodeBadIdentity, Message: fmt.Sprintf("%q is no file name: %s", id.Name, why)}
	}
	id.Name = name
	key := id.Key()
	switch {
	case key == "":
		return id, &Error{Code: CodeBadIdentity,
			Message: fmt.Sprintf("%s has no debug id, and no timestamp and size of image, so no store can be asked for it", name)}
	case id.DebugID != "" && !debugKey(key):
		return id, &Error{Code: CodeBadIdentity,
			Message: fmt.Sprintf("%q, wanted of %s, is no debug id: a GUID's 32 hexadecimal digits and 1 to 8 of the age",
				id.DebugID, name)}
	}
	return id, nil
}

// badName says why a name must not become part of a path, or nothing. Windows forbids these characters in file names
// too, so no honest name is refused.
func badName(name string) string {
	switch {
	case name == "":
		return "it is empty"
	case len(name) > 255:
		return "it is longer than 255 bytes"
	case !utf8.ValidString(name):
		return "it is not UTF-8"
	case strings.Trim(name, ". ") == "":
		return "it is made of dots"
	case name != strings.TrimSpace(name):
		return "it begins or ends with space"
	case strings.EqualFold(name, stagingName):
		return "stores use it for files that are not whole yet"
	}
	for _, r := range name {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) || strings.ContainsRune(`/\:*?"<>|`, r) {
			return fmt.Sprintf("it contains %q", r)
		}
	}
	return ""
}

// debugKey tells whether key is a GUID and age, or the signature and age of a PDB 2.00.
func debugKey(key string) bool {
	age := len(key) - 32
	if len(key) <= 16 {
		age = len(key) - 8
	}
	return age >= 1 && age <= 8 && isHex(key)
}

// imageKey takes an image's key apart: eight digits of the timestamp and 1 to 8 of the size.
func imageKey(key string) (timestamp, size uint32, ok bool) {
	if len(key) < 9 || len(key) > 16 || !isHex(key) {
		return 0, 0, false
	}
	t, _ := strconv.ParseUint(key[:8], 16, 32)
	n, _ := strconv.ParseUint(key[8:], 16, 32)
	return uint32(t), uint32(n), n != 0
}

func isHex(s string) bool {
	return strings.Trim(s, "0123456789abcdefABCDEF") == ""
}
