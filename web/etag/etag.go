// Package etag makes the tags by which clients ask whether a body that they have is still the same, and reads those
// that they send. In come a name or a body, or the header of a request; out go a tag, or whether the client has the
// tagged body already.
//
// Tags are weak where the server codes a body on its way: they stand for what it says, not for its bytes (RFC 9110,
// 8.8.3). Files that are sent byte for byte, in parts if wanted, have strong ones by their digests.
package etag

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
)

// Weak makes a weak tag of a name, which holds no quotes or control characters.
func Weak(name string) string { return `W/"` + name + `"` }

// OfBody makes a weak tag of a body's digest.
func OfBody(body []byte) string {
	sum := sha256.Sum256(body)
	return Weak(base64.RawURLEncoding.EncodeToString(sum[:15]))
}

// IsKnown reports whether the client of a GET or HEAD has the body with the tag already: then answer 304.
func IsKnown(r *http.Request, tag string) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	return Matches(strings.Join(r.Header.Values("If-None-Match"), ","), tag)
}

// Matches reports whether an If-None-Match header names the tag, strong or weak (RFC 9110, 13.1.2). What stands behind
// a malformed member is not read.
func Matches(header, tag string) bool {
	opaque := strings.TrimPrefix(tag, "W/")
	if strings.Trim(header, " \t") == "*" {
		return true
	}
	for rest := header; ; {
		rest = strings.TrimLeft(rest, " \t,")
		rest = strings.TrimPrefix(rest, "W/")
		if !strings.HasPrefix(rest, `"`) {
			return false
		}
		end := strings.IndexByte(rest[1:], '"')
		if end < 0 {
			return false
		}
		if rest[:end+2] == opaque {
			return true
		}
		rest = rest[end+2:]
	}
}
