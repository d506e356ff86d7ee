package allocations

import "encoding/binary"

// A footer is what a Parquet file says of itself at its end: FileMetaData of parquet.thrift.
type footer struct {
	schema []columnShape
	root   string
	rows   int64
	groups []rowGroup
	meta   map[string]string
}

// A rowGroup is a run of rows that is stored column by column.
type rowGroup struct {
	rows   int64
	chunks []columnChunk // as many as columns
}

// A columnChunk is where a column of a row group lies, and its statistics.
type columnChunk struct {
	codec    int64
	values   int64
	data     int64 // offset of the first data page
	dict     int64 // offset of the dictionary, before the data; 0 for none
	size     int64 // bytes with all page headers
	nulls    int64
	min, max []byte // as PLAIN writes them; empty where not known
}

// start is where the chunk begins.
func (k *columnChunk) start() int64 {
	if k.dict > 0 && k.dict < k.data {
		return k.dict
	}
	return k.data
}

// bounds are the least and the greatest of 64-bit values that are not null.
func (k *columnChunk) bounds() (low, high int64, ok bool) {
	if len(k.min) != 8 || len(k.max) != 8 {
		return 0, 0, false
	}
	return int64(binary.LittleEndian.Uint64(k.min)), int64(binary.LittleEndian.Uint64(k.max)), true
}

const (
	thriftInteger32 = 5
	thriftInteger64 = 6
)

// readFooter reads FileMetaData: 2 schema, 3 num_rows, 4 row_groups, 5 key_value_metadata.
func readFooter(b []byte) (*footer, error) {
	f := &footer{meta: map[string]string{}}
	c := &thriftCursor{b: b}
	c.fields(func(id int64, kind byte) {
		switch {
		case id == 2 && c.want(kind, thriftList):
			c.list(func(kind byte) {
				if c.want(kind, thriftStruct) {
					f.element(c)
				}
			})
		case id == 3 && c.want(kind, thriftInteger64):
			f.rows = c.integer()
		case id == 4 && c.want(kind, thriftList):
			c.list(func(kind byte) {
				if c.want(kind, thriftStruct) && f.ours() {
					f.group(c)
				} else {
					c.skip(kind)
				}
			})
		case id == 5 && c.want(kind, thriftList):
			c.list(func(kind byte) {
				if c.want(kind, thriftStruct) {
					f.keyValue(c)
				}
			})
		default:
			c.skip(kind)
		}
	})
	if c.bad {
		return nil, failure(CodeDamaged, nil, "the table's footer cannot be read at byte %d of %d", c.at, len(b))
	}
	return f, nil
}

// ours says whether the columns are those of a table. Row groups of others are not kept: their number takes no memory.
func (f *footer) ours() bool {
	return f.root == schemaName && len(f.schema) == columnCount && [columnCount]columnShape(f.schema) == columnShapes
}

// element reads SchemaElement: 1 type, 3 repetition_type (1 optional), 4 name.
func (f *footer) element(c *thriftCursor) {
	shape := columnShape{physical: -1}
	c.fields(func(id int64, kind byte) {
		switch {
		case id == 1 && c.want(kind, thriftInteger32):
			shape.physical = c.integer()
		case id == 3 && c.want(kind, thriftInteger32):
			shape.optional = c.integer() == 1
		case id == 4 && c.want(kind, thriftBytes):
			shape.name = string(c.bytes())
		default:
			c.skip(kind)
		}
	})
	if f.root == "" {
		f.root = shape.name
		return
	}
	f.schema = append(f.schema, shape)
}

// group reads RowGroup: 1 columns, 3 num_rows.
func (f *footer) group(c *thriftCursor) {
	g := rowGroup{chunks: make([]columnChunk, 0, columnCount)}
	c.fields(func(id int64, kind byte) {
		switch {
		case id == 1 && c.want(kind, thriftList):
			c.list(func(kind byte) {
				if c.want(kind, thriftStruct) {
					g.column(c)
				}
			})
		case id == 3 && c.want(kind, thriftInteger64):
			g.rows = c.integer()
		default:
			c.skip(kind)
		}
	})
	if len(g.chunks) != columnCount {
		c.bad = true
		return
	}
	f.groups = append(f.groups, g)
}

// column reads ColumnChunk: 3 meta_data.
func (g *rowGroup) column(c *thriftCursor) {
	var chunk columnChunk
	c.fields(func(id int64, kind byte) {
		if id == 3 && c.want(kind, thriftStruct) {
			chunk.read(c)
			return
		}
		c.skip(kind)
	})
	if len(g.chunks) == columnCount {
		c.bad = true
		return
	}
	g.chunks = append(g.chunks, chunk)
}

// read reads ColumnMetaData: 4 codec, 5 num_values, 7 total_compressed_size, 9 data_page_offset,
// 11 dictionary_page_offset, 12 statistics.
func (k *columnChunk) read(c *thriftCursor) {
	c.fields(func(id int64, kind byte) {
		switch {
		case id == 4 && c.want(kind, thriftInteger32):
			k.codec = c.integer()
		case id == 5 && c.want(kind, thriftInteger64):
			k.values = c.integer()
		case id == 7 && c.want(kind, thriftInteger64):
			k.size = c.integer()
		case id == 9 && c.want(kind, thriftInteger64):
			k.data = c.integer()
		case id == 11 && c.want(kind, thriftInteger64):
			k.dict = c.integer()
		case id == 12 && c.want(kind, thriftStruct):
			k.statistics(c)
		default:
			c.skip(kind)
		}
	})
}

// statistics reads Statistics: 3 null_count, 5 max_value, 6 min_value.
func (k *columnChunk) statistics(c *thriftCursor) {
	c.fields(func(id int64, kind byte) {
		switch {
		case id == 3 && c.want(kind, thriftInteger64):
			k.nulls = c.integer()
		case id == 5 && c.want(kind, thriftBytes):
			k.max = c.bytes()
		case id == 6 && c.want(kind, thriftBytes):
			k.min = c.bytes()
		default:
			c.skip(kind)
		}
	})
}

// keyValue reads KeyValue: 1 key, 2 value.
func (f *footer) keyValue(c *thriftCursor) {
	var key, value []byte
	c.fields(func(id int64, kind byte) {
		switch {
		case id == 1 && c.want(kind, thriftBytes):
			key = c.bytes()
		case id == 2 && c.want(kind, thriftBytes):
			value = c.bytes()
		default:
			c.skip(kind)
		}
	})
	f.meta[string(key)] = string(value)
}
