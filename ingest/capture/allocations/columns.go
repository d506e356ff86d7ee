package allocations

// schemaName is the name of the schema's root.
const schemaName = "allocations"

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
