// Package pdbtest writes PDBs for tests, benchmarks and the demo: a Program describes modules, functions, lines, inline
// sites and what else a PDB says, and is written as a PDB 7.00 that debuggers accept. The same Program always gives the
// same bytes. At tells what a reader has to answer for an address.
//
// Large makes PDBs of any size without holding them in memory.
//
// The layouts are spelled here a second time on purpose: a mistake in the reader must not be made by the writer too.
// They follow LLVM's "The PDB File Format", Microsoft's cvinfo.h (microsoft/microsoft-pdb) and the documents of
// microsoft/pdb-rs.
package pdbtest
