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
	var size, crc, levels, repetitions int64
	c := &thriftCursor{b: b}
	// PageHeader: 1 type, 3 compressed_page_size, 4 crc, 7 dictionary_page_header, 8 data_page_header_v2.
	c.fields(func(id int64, kind byte) {
		switch {
		case id == 1 && c.want(kind, thriftInteger32):
			p.kind = c.integer()
		case id == 3 && c.want(kind, thriftInteger32):
			size = c.integer()
		case id == 4 && c.want(kind, thriftInteger32):
			crc = c.integer()
		case id == 7 && c.want(kind, thriftStruct):
			// DictionaryPageHeader: 1 num_values, 2 encoding.
			c.fields(func(id int64, kind byte) {
				switch {
				case id == 1 && c.want(kind, thriftInteger32):
					p.values = c.integer()
				case id == 2 && c.want(kind, thriftInteger32):
					p.encoding = c.integer()
				default:
					c.skip(kind)
				}
			})
		case id == 8 && c.want(kind, thriftStruct):
			// DataPageHeaderV2: 1 num_values, 2 num_nulls, 4 encoding, 5 definition_levels_byte_length,
			// 6 repetition_levels_byte_length.
			c.fields(func(id int64, kind byte) {
				switch {
				case id == 1 && c.want(kind, thriftInteger32):
					p.values = c.integer()
				case id == 2 && c.want(kind, thriftInteger32):
					p.nulls = c.integer()
				case id == 4 && c.want(kind, thriftInteger32):
					p.encoding = c.integer()
				case id == 5 && c.want(kind, thriftInteger32):
					levels = c.integer()
				case id == 6 && c.want(kind, thriftInteger32):
					repetitions = c.integer()
				default:
					c.skip(kind)
				}
			})
		default:
			c.skip(kind)
		}
	})
	switch {
	case c.bad:
		return p, nil, "a page header cannot be read"
	case p.kind != pageDictionary && p.kind != pageDataV2:
		return p, nil, "a page of another type"
	case size < 0 || size > int64(len(b)-c.at):
		return p, nil, "a page reaches beyond its column"
	case repetitions != 0 || levels < 0 || levels > size:
		return p, nil, "levels reach beyond their page"
	case p.values < 0 || p.nulls < 0 || p.nulls > p.values:
		return p, nil, "a page counts what it cannot have"
	}
	p.body, rest = b[c.at:c.at+int(size)], b[c.at+int(size):]
	if uint32(crc) != crc32.ChecksumIEEE(p.body) {
		return p, nil, "a page's checksum differs"
	}
	p.levels, p.body = p.body[:levels], p.body[levels:]
	return p, rest, ""
}
