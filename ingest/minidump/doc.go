// Package minidump reads the minidumps that Windows writes of a process: what is in the file, and the memory of the
// process as one space to read from. It knows nothing of heaps.
//
// Layouts are those of minidumpapiset.h and winnt.h (SDK 10.0.20348), whose structures are packed to 4 bytes; what each
// field is stands beside the code that reads it. All numbers are little-endian.
//
//	file      = header, 32 bytes       MDMP; where the directory is, what was asked to be written (see Header)
//	            directory              12 bytes for each stream: type, size, RVA (see Stream)
//	            streams                in any order, and what they refer to: names, contexts, CodeView records
//	            memory                 of full dumps, behind everything else
//
// An RVA is an offset in the file. All are 32 bits wide but that of the memory of Memory64List: whatever else a dump
// tells lies in its first 4 GB.
//
// # Opening is cheap
//
// Open reads the header, the directory, what system it is, and where memory lies. Every stream has a method that reads
// it when it is asked for. The file is read by ReadAt alone and nothing of it is kept but lists; the context that Open
// was given rules all reading from the dump.
//
// # Damage
//
// Dumps are cut by full disks and broken uploads. A stream that is damaged costs what is damaged of it: methods return
// what they could read together with an error that says what is missing and where (see Problems). Counts and sizes are
// claims: lists end where their stream or the file ends, and nothing is allocated for more than is there. Limits,
// beyond which no process of Windows goes, bound what a made-up file of any size can cost: see limits.go.
package minidump
