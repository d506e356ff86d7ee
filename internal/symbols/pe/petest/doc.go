// Package petest writes Windows images for tests, fuzz seeds and the demo: sections, a reference to a PDB, exports,
// .pdata with chained and packed unwind data, and code whose call sites really are CALLs. The same Image always gives
// the same bytes. Of makes the image that belongs to a program of pdbtest.
//
// The layouts are spelled a second time here on purpose: a mistake in the reader must not be made by the writer too.
package petest
