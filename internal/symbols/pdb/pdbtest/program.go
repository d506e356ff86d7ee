package pdbtest

// A Program is what a PDB describes. Where there is OMAP, everything but Sections and OMAP itself is in the space of
// Original.
type Program struct {
	GUID      [16]byte
	Age       uint32 // of the DBI stream, which images and symbol servers use; 0 for 1
	InfoAge   uint32 // of the info stream; 0 for Age
	Signature uint32 // when the PDB was made, in seconds since 1970
	Machine   uint16 // IMAGE_FILE_MACHINE_*; 0: x64
	PageSize  int    // 0: 4096

	Sections []Section // of the image
	Original []Section // before the image was reordered; with OMAP
	OMAP     *OMAP     // of an image that was reordered after linking

	Modules []Module
	Publics []Public
	Structs []Struct

	Stripped       bool // only publics and Structs, as pdbcopy -p leaves them
	KeepProcedures bool // with Stripped: procedures, thunks and separated code stay, as in Microsoft's public PDBs
	FastLink       bool // linked with /DEBUG:FASTLINK: procedures and lines are in object files
	NoSections     bool // without section headers, as NGEN makes them
	NoSymbols      bool // an empty DBI stream: a compiler's PDB with Structs, a linker's that was interrupted without
}

// A Section is a section header of the image.
type Section struct {
	Name            string
	RVA             uint32
	Size            uint32 // in bytes
	Characteristics uint32
}

// Characteristics of sections.
const (
	Code = 0x60000020 // code, execute, read
	Data = 0x40000040 // initialized data, read
)

// Standard is .text, .rdata, .data and .pdata as a linker lays them out, for code of so many bytes. .rdata and .pdata
// have room for what petest puts there.
func Standard(code uint32) []Section {
	sections := []Section{
		{".text", 0, code, Code},
		{".rdata", 0, 0x1000 + code/16, Data},
		{".data", 0, 0x200, Data | 0x80000000}, // write
		{".pdata", 0, 0x400 + code/4, Data},
	}
	rva := uint32(0x1000)
	for i := range sections {
		sections[i].RVA = rva
		rva = (rva + sections[i].Size + 0xFFF) &^ 0xFFF
	}
	return sections
}

// An Address is an offset in bytes in a section; sections count from 1.
type Address struct {
	Section uint16
	Offset  uint32
}

// OMAP says which range of the image came from where. Ranges are sorted by From and end where the next begins; 0 in To
// says that there is nothing on the other side.
type OMAP struct {
	ToSource   []Mapping // from RVAs of the image
	FromSource []Mapping // to RVAs of the image
}

// A Mapping is an entry of OMAP.
type Mapping struct{ From, To uint32 }

// A Module is a compiland.
type Module struct {
	Name   string // object file
	Object string // library it is from; "": Name
	Clang  bool   // inline sites are written as clang does, and not as MSVC

	Functions   []Function
	Thunks      []Thunk
	Trampolines []Trampoline
	Separated   []SeparatedPart
	Structs     []Struct // types that its code uses, beside the program's
	Exports     []string // functions whose ids other modules import; see Inline.From
	NoStream    bool     // nothing is known of the module but what it contributes
}

// A Function is a procedure.
type Function struct {
	Name      string // undecorated, as procedure records have it
	Decorated string // of a public at the same address; "": none
	Address
	Length      uint32 // bytes
	Local       bool   // static
	Lines       []Line
	Inlines     []Inline
	Allocations []Allocation
	Calls       []Call   // what petest makes the code from, beside Allocations
	Locals      []string // names of its local variables
	Folded      bool     // identical code that another module contributed: a record without a section contribution
}

// A Line is where the code from Offset of the function on came from.
type Line struct {
	Offset uint32 // bytes from the function's start
	File   string
	Line   uint32
}

// An Inline is a call that was inlined. Ranges are sorted and do not overlap.
type Inline struct {
	Function string // with its scope: geo::Box::area
	From     string // name of the earlier module that the function's id is imported from; "": this module's own
	File     string
	Line     uint32 // where the inlined function begins
	Ranges   []InlinedLine
	Inlines  []Inline // calls inlined in turn
}

// An InlinedLine is code that came from one line of an inlined function.
type InlinedLine struct {
	Offset uint32 // from the start of the outermost function
	Length uint32
	Line   uint32
	File   string // "": the inlined function's
}

// A Call is a call instruction at Offset of the function; its return address is Offset + Length.
type Call struct {
	Offset uint32
	Length uint32 // bytes of the instruction
	Target string // name of the function called; "": through a pointer
}

// An Allocation is a call that allocates, and what.
type Allocation struct {
	Call
	Type string // "": void
}

// A Thunk is a small piece of code that jumps elsewhere.
type Thunk struct {
	Name string
	Address
	Length uint16
}

// A Trampoline is a jump of the incremental linker's table.
type Trampoline struct {
	Address
	Length uint16
	Target Address
}

// A SeparatedPart is a cold part of a function that the linker moved away.
type SeparatedPart struct {
	Address
	Length uint32
	Parent Address // of the function
}

// A Public is a symbol of the linker.
type Public struct {
	Name string // decorated
	Address
	Data bool // it is a variable, not a function
}

// A Struct is a named type with its fields.
type Struct struct {
	Name   string
	Size   uint64 // bytes
	Union  bool
	Fields []Field
}

// A Field is a member of a Struct, or a class it is derived from.
type Field struct {
	Name   string // not of a base class
	Offset uint64 // bytes
	Type   Type
	Base   bool // a base class; Type is Named
}

// A Type is the type of a field.
type Type struct {
	index   uint32 // of a built-in type
	name    string // of a Struct
	pointer *Type
	array   *Type
	bytes   uint64 // of the array
	bits    *Type
	from    uint8
	count   uint8
}

// The built-in types (cvinfo.h, TYPE_ENUM_e).
var (
	Void    = Type{index: 0x03}
	Char    = Type{index: 0x70}
	Byte    = Type{index: 0x20}
	Ushort  = Type{index: 0x21}
	Ulong   = Type{index: 0x22}
	Long    = Type{index: 0x12}
	Uint    = Type{index: 0x75}
	Uint64  = Type{index: 0x23}
	Pointer = Type{index: 0x603} // void*, 64 bits
)

// Named is a Struct of the same Program.
func Named(name string) Type { return Type{name: name} }

// PointerTo is a 64-bit pointer.
func PointerTo(t Type) Type { return Type{pointer: &t} }

// ArrayOf is an array of so many bytes.
func ArrayOf(t Type, bytes uint64) Type { return Type{array: &t, bytes: bytes} }

// Bits is a bit field of count bits from the bit from on.
func Bits(t Type, from, count uint8) Type { return Type{bits: &t, from: from, count: count} }
