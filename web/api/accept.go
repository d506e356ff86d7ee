package api

import (
	"mime"
	"strconv"
	"strings"
)

// PreferredOffer returns the index of the media type that an Accept header prefers: the offer with the highest weight,
// the earlier one among equals. It is −1 where none is acceptable. An empty header accepts everything.
func PreferredOffer(accept string, offers ...string) int {
	if strings.TrimSpace(accept) == "" {
		return 0
	}
	best, weight := -1, 0.0
	for i, offer := range offers {
		if q := quality(accept, offer); q > weight {
			best, weight = i, q
		}
	}
	return best
}

// quality is the weight that an Accept header gives a media type; the most specific range that matches decides.
func quality(accept, offer string) float64 {
	kind, _, _ := strings.Cut(offer, "/")
	q, specific := 0.0, 0
	for part := range strings.SplitSeq(accept, ",") {
		name, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		rank := 0
		switch name {
		case offer:
			rank = 3
		case kind + "/*":
			rank = 2
		case "*/*", "*":
			rank = 1
		}
		if rank <= specific {
			continue
		}
		specific, q = rank, 1
		if text, ok := params["q"]; ok {
			if q, err = strconv.ParseFloat(text, 64); err != nil {
				q = 0
			}
		}
	}
	return q
}
