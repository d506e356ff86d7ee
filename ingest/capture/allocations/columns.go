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

// schemaName is the name of the schema's root.
const schemaName = "allocations"

var tableSchema = parquet.NewSchema(schemaName, parquet.SchemaOf(tableRow{}))

// The columns, by their place in a table.
const (
	columnAllocTime = iota
	columnFreeTime
	columnSize
	columnSite
	columnEnd
	columnPart
	columnUnknown
	columnsOfWindows // a window needs those before
	columnHeap       = iota
	columnProcess
	columnPID
	columnThread
	columnStack
	columnFreeStack
	columnKind
	columnCount
	columnAddress = columnsOfWindows
)

// Physical types of Parquet.
const (
	physicalBoolean = 0
	physicalInt32   = 1
	physicalInt64   = 2
	physicalBytes   = 6
)

// A columnShape is what a reader must find in the schema of a table.
type columnShape struct {
	name     string
	physical int64
	optional bool
}

var columnShapes = [columnCount]columnShape{
	columnAllocTime: {"alloc_time_ns", physicalInt64, true},
	columnFreeTime:  {"free_time_ns", physicalInt64, true},
	columnSize:      {"size", physicalInt64, false},
	columnSite:      {"site", physicalInt32, false},
	columnEnd:       {"end", physicalBytes, false},
	columnPart:      {"part", physicalBoolean, false},
	columnUnknown:   {"unknown", physicalBoolean, false},
	columnAddress:   {"address", physicalInt64, false},
	columnHeap:      {"heap", physicalInt64, false},
	columnProcess:   {"process", physicalInt32, false},
	columnPID:       {"pid", physicalInt32, false},
	columnThread:    {"thread", physicalInt32, false},
	columnStack:     {"stack", physicalInt32, false},
	columnFreeStack: {"free_stack", physicalInt32, false},
	columnKind:      {"kind", physicalBytes, false},
}
