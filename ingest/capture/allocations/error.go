package allocations

import (
	"fmt"

	"heapdrift/ingest/evidence"
)

// The codes of errors. They are stable: callers tell cases apart by them.
const (
	CodeSite    = "unknown-site"  // a row of a site that a scan was not made for
	CodeStack   = "unknown-stack" // a row of a stack that Renumber has no number for
	CodeDisk    = "spool-disk"    // the temporary file cannot be made, written or read
	CodeClosed  = "spool-closed"  // the spool was closed
	CodeWrite   = "write-table"   // the table cannot be encoded or written
	CodeForeign = "foreign-table" // no Parquet file, or none with this package's columns
	CodeVersion = "table-version" // a table of a version that is not known here
	CodeDamaged = "damaged-table" // a table that contradicts itself, or whose bytes cannot be decoded
	CodeRead    = "read-table"    // the file of a table cannot be read
	CodeBounds  = "bad-question"  // a question that does not fit its rows
)

// failure says what is wrong with rows, or with a table of them: what this program wrote, and no evidence.
func failure(code string, cause error, format string, args ...any) *evidence.Error {
	return &evidence.Error{Code: code, Message: fmt.Sprintf(format, args...), Err: cause, Internal: true}
}
