//go:build !client

package allocations

import "github.com/parquet-go/parquet-go"

// tableRow declares the columns of a table: their names, types and encodings are a public contract. Those that a window
// needs come first. Times are null where they lie outside of the trace, so that their statistics mean something and the
// encoding of differences is not torn by sentinels.
type tableRow struct {
	AllocTime int64  `parquet:"alloc_time_ns,optional,delta"` // null: before the trace
	FreeTime  int64  `parquet:"free_time_ns,optional,delta"`  // null: never
	Size      uint64 `parquet:"size,dict"`
	Site      uint32 `parquet:"site,dict"`
	End       string `parquet:"end,dict"`
	Part      bool   `parquet:"part,plain"`
	Unknown   bool   `parquet:"unknown,plain"`
	Address   uint64 `parquet:"address,delta"`
	Heap      uint64 `parquet:"heap,dict"`
	Process   uint32 `parquet:"process,dict"`
	PID       uint32 `parquet:"pid,dict"`
	Thread    uint32 `parquet:"thread,dict"`
	Stack     uint32 `parquet:"stack,dict"`
	FreeStack uint32 `parquet:"free_stack,dict"`
	Kind      string `parquet:"kind,dict"`
}

var tableSchema = parquet.NewSchema(schemaName, parquet.SchemaOf(tableRow{}))
