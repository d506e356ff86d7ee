// Package symsrv finds PDBs and images along a symbol path, the value of _NT_SYMBOL_PATH: directories, symbol stores
// and symbol servers, in the order and with the caching that dbghelp.dll and symsrv.dll give them. In comes the
// Identity of a file, out goes its path on this machine, and what each place of the symbol path answered.
//
// A path is a list of elements with semicolons between them:
//
//	srv*STORE*STORE*…          a chain: the leftmost store is asked first and filled from the ones to its right;
//	                           only the last may be a server (http, https); an empty store is the default one
//	srv*                       the default store, then Microsoft's public server
//	symsrv*symsrv.dll*STORE*…  the same, in full
//	cache*DIR                  a store before every element to its right; cache* is the default store
//	DIR                        DIR\f.pdb, DIR\<ext>\f.pdb, DIR\symbols\<ext>\f.pdb, with Options.Below any folder
//	                           below DIR, and DIR taken as a store
//
// A store holds a file at one of these places, the second where index2.txt lies in its root:
//
//	name/KEY/name              name/KEY/nam_ (a cabinet or zip)   name/KEY/msfz0/name   name/KEY/file.ptr (text)
//	na/name/KEY/name
//
// KEY is the PDB's GUID and age, or the image's timestamp and size: see Identity.Key.
//
// Sources: "Advanced SymSrv Use", "Symbol path for Windows debuggers", "Symbol Store Folder Tree" and "Firewalls and
// Proxy Servers" of Microsoft's debugger documentation; the SSQP key conventions of dotnet/symstore; the folder msfz0
// is PerfView's. Where those leave a choice, the comment beside the code says what was chosen.
//
// No server is asked unless its host is on Options.Allow. Whatever is downloaded comes to lie under its real name only
// when it is whole and Options.Check has found it to be what was asked for.
package symsrv
