package compress

import (
	"net/http"
	"strings"
)

// shrinks reports whether bodies of a media type get shorter. Evidence, images, archives and Parquet do not; neither
// does a stream of events, each of which must arrive at once.
func shrinks(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	media = strings.ToLower(strings.Trim(media, " \t"))
	switch media {
	case "text/event-stream":
		return false
	case "application/json", "application/javascript", "application/xml", "application/yaml":
		return true
	}
	return strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "+json") || strings.HasSuffix(media, "+xml")
}

// varies reports whether an answer may be sent in several codings: its kind allows it, and its handler has neither
// coded it already, nor serves ranges of it, nor forbids to change it.
func varies(h http.Header) bool {
	return shrinks(h.Get("Content-Type")) && h.Get("Content-Encoding") == "" && h.Get("Content-Range") == "" &&
		h.Get("Accept-Ranges") == "" &&
		!lists(h, "Cache-Control", "no-transform")
}

// Vary adds names of request headers to those that an answer depends on.
func Vary(h http.Header, names ...string) {
	for _, name := range names {
		if !lists(h, "Vary", name) {
			h.Add("Vary", name)
		}
	}
}

// lists reports whether a header lists a word, in any case.
func lists(h http.Header, header, word string) bool {
	for _, line := range h.Values(header) {
		for member := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.Trim(member, " \t"), word) {
				return true
			}
		}
	}
	return false
}
