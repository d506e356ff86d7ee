// Package hdsnap reads and writes snapshots of heaps that heapdrift itself takes of a process (heapdrift snapshot,
// heapdrift record). In comes a .hdsnap file; out goes one Capture, or an *evidence.Error with the offset of the
// damage.
//
//	magic     "hdsnap\r\n"   8 bytes; a transfer that changes ends of lines breaks it
//	version   u16            1
//	length    u32            of the header in bytes, at most 64 KiB
//	header    JSON           see Header; a reader skips fields that it does not know
//	checksum  u32            CRC-32C of all bytes before
//	capture                  the artifact of package ingest/capture, to the end of the file
//
// Numbers are little-endian. The capture is one stream of zstd with a checksum of its own, so a file that is cut at any
// byte is refused. docs/hdsnap.md describes the format for others.
package hdsnap
