// Package cab reads cabinets (.cab, and the .pd_, .dl_ and .ex_ of symbol stores): stored, MSZIP and LZX folders. In
// comes a cabinet, out go the names and sizes of its files and, for each, its bytes.
//
// Layouts, little-endian, are those of Microsoft's "Cabinet File Format" [MS-CAB], "MSZIP Compression" [MS-MCI] and
// "LZX DELTA Compression" [MS-PATCH]:
//
//	field                offset  size
//	CFHEADER             0       36
//	  signature          0       4     "MSCF"
//	  cbCabinet          8       4     size of the cabinet
//	  coffFiles          16      4     where the first CFFILE is
//	  version            24      2     minor, major: 1.3
//	  cFolders, cFiles   26      2, 2
//	  flags              30      2     1 there is a cabinet before, 2 one behind, 4 reserved fields
//	  cbCFHeader         36      2     reserved bytes of the header; cbCFFolder +38 (1), cbCFData +39 (1); with flag 4
//	  names              36/40+        two strings for each of flags 1 and 2: file and disk
//	CFFOLDER                     8     + cbCFFolder
//	  coffCabStart       +0      4     where the first CFDATA is
//	  cCFData            +4      2
//	  typeCompress       +6      2     bits 0-3: 0 stored, 1 MSZIP, 2 Quantum, 3 LZX; bits 8-12: log2 of the LZX window
//	CFFILE                       16    + name, NUL
//	  cbFile             +0      4
//	  uoffFolderStart    +4      4     in the unpacked folder
//	  iFolder            +8      2     0xFFFD, 0xFFFE and 0xFFFF: continued from or into another cabinet
//	  date, time         +10     2, 2
//	  attribs            +14     2
//	CFDATA                       8     + cbCFData + data
//	  csum               +0      4     0: none
//	  cbData             +4      2
//	  cbUncomp           +6      2     at most 32 KiB; 0: the block goes on in the next cabinet
//
// A folder is one compressed stream, cut into blocks; files follow each other in it.
package cab
