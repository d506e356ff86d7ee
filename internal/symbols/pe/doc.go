// Package pe reads Windows images (EXE, DLL, SYS) for symbolisation. In comes an image; out go its identity, sections,
// reference to a PDB, exports and bounds of functions, and whether an address follows a CALL. Headers are read when an
// image is opened, everything else when it is asked for.
//
// Layouts, little-endian, are those of Microsoft's "PE Format", "x64 exception handling" and "ARM64 exception
// handling":
//
//	field                   offset            size
//	MS-DOS header           0
//	  e_lfanew              0x3C              4     where "PE\0\0" is
//	file header             e_lfanew+4        20
//	  Machine               +0                2
//	  NumberOfSections      +2                2
//	  TimeDateStamp         +4                4
//	  SizeOfOptionalHeader  +16               2     the section table follows that many bytes after the file header
//	  Characteristics       +18               2
//	optional header         e_lfanew+24       96 (PE32) or 112 (PE32+), then data directories of 8
//	  Magic                 +0                2     0x10B PE32, 0x20B PE32+
//	  AddressOfEntryPoint   +16               4
//	  ImageBase             +28 or +24        4 or 8
//	  SectionAlignment      +32               4
//	  SizeOfImage           +56               4
//	  SizeOfHeaders         +60               4
//	  CheckSum              +64               4
//	  NumberOfRvaAndSizes   +92 or +108       4
//	section header                            40
//	  Name                  +0                8
//	  VirtualSize           +8                4
//	  VirtualAddress        +12               4
//	  SizeOfRawData         +16               4
//	  PointerToRawData      +20               4
//	  Characteristics       +36               4
//
// A File may be used by several goroutines at once.
package pe
