package allocations

import "hash/crc32"

// The types and encodings of pages that tables have.
const (
	pageDictionary = 2
	pageDataV2     = 3

	encodingPlain      = 0
	encodingDelta      = 5 // DELTA_BINARY_PACKED
	encodingDictionary = 8 // RLE_DICTIONARY
)

// A page is a part of a column chunk: a dictionary, or values.
type page struct {
	kind     int64
	encoding int64
	values   int64
	nulls    int64
	levels   []byte // definition levels, empty without
	body     []byte
}

// nextPage reads the page at the beginning of b and gives what follows it. What is wrong with it is said in words, ""
// for nothing.
func nextPage(b []byte) (p page, rest []byte, wrong string) {
	c := &thriftCursor{b: b}
	h := readPageHeader(c)
	if c.bad {
		return page{}, nil, "a page header cannot be read"
	}
	p = page{kind: h.kind, encoding: h.encoding, values: h.values, nulls: h.nulls}
	switch {
	case h.kind != pageDictionary && h.kind != pageDataV2:
		return p, nil, "a page of another type"
	case h.size < 0 || h.size > int64(len(b)-c.at):
		return p, nil, "a page reaches beyond its column"
	case h.repetitions != 0 || h.levels < 0 || h.levels > h.size:
		return p, nil, "levels reach beyond their page"
	case p.values < 0 || p.nulls < 0 || p.nulls > p.values:
		return p, nil, "a page counts what it cannot have"
	}
	p.body, rest = b[c.at:c.at+int(h.size)], b[c.at+int(h.size):]
	if uint32(h.crc) != crc32.ChecksumIEEE(p.body) {
		return p, nil, "a page's checksum differs"
	}
	p.levels, p.body = p.body[:h.levels], p.body[h.levels:]
	return p, rest, ""
}

// A pageHeader is what the file says of a page, none of it checked.
type pageHeader struct {
	kind, encoding, values, nulls int64
	size, crc                     int64 // of what follows the header, in bytes
	levels, repetitions           int64 // bytes of the size
}

// readPageHeader reads a PageHeader: 1 type, 3 compressed_page_size, 4 crc, 7 dictionary_page_header,
// 8 data_page_header_v2.
func readPageHeader(c *thriftCursor) (h pageHeader) {
	own := numbers{1: &h.kind, 3: &h.size, 4: &h.crc}
	// DictionaryPageHeader: 1 num_values, 2 encoding.
	dictionary := numbers{1: &h.values, 2: &h.encoding}
	// DataPageHeaderV2: 1 num_values, 2 num_nulls, 4 encoding, 5 definition_levels_byte_length,
	// 6 repetition_levels_byte_length.
	data := numbers{1: &h.values, 2: &h.nulls, 4: &h.encoding, 5: &h.levels, 6: &h.repetitions}
	c.fields(func(id int64, kind byte) {
		switch {
		case id == 7 && c.want(kind, thriftStruct):
			c.fields(dictionary.take(c))
		case id == 8 && c.want(kind, thriftStruct):
			c.fields(data.take(c))
		default:
			own.take(c)(id, kind)
		}
	})
	return h
}

// numbers are where the 32-bit fields of a struct go, by their ids.
type numbers [7]*int64

// take reads a field that has a place, and passes over all others.
func (to *numbers) take(c *thriftCursor) func(id int64, kind byte) {
	return func(id int64, kind byte) {
		if id >= 0 && id < int64(len(to)) && to[id] != nil && c.want(kind, thriftInteger32) {
			*to[id] = c.integer()
		} else {
			c.skip(kind)
		}
	}
}
