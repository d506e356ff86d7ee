package pdb

// Kinds of symbol records (cvinfo.h). Those that end in ST have names with their length before them.
const (
	symEnd          = 0x0006
	symThunkST      = 0x0206
	symPub32        = 0x110E
	symLocalProcST  = 0x100A
	symGlobalProcST = 0x100B
	symThunk        = 0x1102
	symBlock        = 0x1103
	symLocalProc    = 0x110F
	symGlobalProc   = 0x1110
	symTrampoline   = 0x112C
	symSepCode      = 0x1132
	symLocalProcID  = 0x1146
	symGlobalProcID = 0x1147
	symInlineSite   = 0x114D
	symInlineEnd    = 0x114E
	symProcIDEnd    = 0x114F
	symLocalDPC     = 0x1155
	symLocalDPCID   = 0x1156
	symInlineSite2  = 0x115D
	symHeapSite     = 0x115E
)

// A SymbolKind says what gave a location its name.
type SymbolKind string

// The kinds of symbols.
const (
	KindProcedure  SymbolKind = "procedure"
	KindThunk      SymbolKind = "thunk"
	KindTrampoline SymbolKind = "trampoline" // jump of incremental linking
	KindSeparated  SymbolKind = "separated"  // part of a procedure that lies elsewhere, named after it
	KindPublic     SymbolKind = "public"
)
