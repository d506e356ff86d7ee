// Package pdb reads Microsoft program databases. In comes a PDB; out go the function, the source line and the chain of
// inlined calls that an address of its image belongs to, the type that an allocating call allocates, and the layout of
// a type by its name.
//
// A PDB is a small file system (MSF 7.00, or MSFZ where it is compressed) of numbered streams:
//
//	stream  contents                                          file here
//	1       info: GUID, age, named streams, features          info.go
//	2, 4    TPI types, IPI ids (names of inlined functions)   records.go, ids.go, layout.go
//	3       DBI: modules, contributions, list of streams      dbi.go, contributions.go
//	named   /names: texts of all kinds                        names.go
//	by DBI  sections and OMAP of the image                    sections.go, omap.go
//	by DBI  public symbols and their address map              publics.go
//	by DBI  per module: symbols, then C13 lines               module.go, lines.go, inlines.go
//
// The layouts come from Microsoft's published headers and sources (microsoft/microsoft-pdb: cvinfo.h, dbi.h, gsi.cpp),
// the documents of microsoft/pdb-rs (docs/), and "The PDB File Format" of LLVM (docs/PDB).
//
// # How an address is resolved
//
// OMAP, where there is one, takes the image's address back to where the linker had put the code: the source space, in
// which everything else is said. The section contribution there names the module whose copy of the code was kept; among
// the module's procedures, thunks and separated blocks that cover the address the last to start wins, and the first of
// the stream among equals. Lines and inlined calls are the module's own. Without a procedure the nearest public symbol
// before the address, in the same section, gives the name.
//
// A line entry holds until the next entry of its block or the block's end. Of several entries at one address the last
// counts, as for DIA: the others are of length zero. Compilers mark code that a debugger should always or never step
// into with the lines 0xF00F00 and 0xFEEFEE; they are given as they are, as DIA does, and HiddenLine tells them.
//
// # Damage
//
// A part that is cut off or contradicts itself costs what it says and no more: addresses of a damaged module get the
// name of a public symbol and no line, and Damage tells what was left out. What cannot be done without is an
// *evidence.Error: headers, OMAP and section headers for addresses, TPI for Type and AllocationSites.
package pdb
