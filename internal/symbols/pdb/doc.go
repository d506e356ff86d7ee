// Package pdb reads Microsoft program databases. For an address of the image it gives the function, the source line and
// the chain of inlined calls. For a call that allocates it gives the allocated type, and for the name of a type its
// layout.
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
// OMAP, where there is one, maps the image's address back to the address at which the linker had put the code. All
// other streams use that address. Its section contribution names the module whose copy of the code was kept. Of that
// module's procedures, thunks and separated blocks that cover the address, the last to start wins, and among equals the
// first of the stream. Lines and inlined calls are the module's own. If no procedure covers the address, the nearest
// public symbol before it in the same section gives the name.
//
// A line entry holds until the next entry of its block or the block's end. Of several entries at one address the last
// counts, as for DIA: the others are of length zero. Compilers use the lines 0xF00F00 and 0xFEEFEE for code that a
// debugger should always or never step into. Both are returned as they are, as by DIA; IsHiddenLine recognises them.
//
// # Damage
//
// A part that is cut off or contradicts itself costs its own content only. Addresses of a damaged module get the name
// of a public symbol and no line, and Damage says what was left out. It is an *evidence.Error if the headers cannot be
// read. Addresses also need OMAP and the section headers; FindLayout and AllocationSites need TPI.
package pdb
