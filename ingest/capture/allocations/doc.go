// Package allocations holds the allocation table of a trace: a Row for each allocation from its beginning to its end,
// in no particular order, and what is computed from rows for any window of time by one scan: Window, Samples and Peaks.
//
// Rows are kept in one of two ways, both Scanners. A Spool takes them while a trace is read and lies on temporary disk.
// A Table is the artifact that stays: a Parquet file, written by Write and read by Open. Ask answers a Question about a
// window from either, on all cores.
package allocations
