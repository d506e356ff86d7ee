package undname

// Flags choose which parts of a declaration are printed. The values are those of UNDNAME_* in dbghelp.h, for
// UnDecorateSymbolName; the zero value prints everything.
type Flags uint32

// The documented flags.
const (
	Complete             Flags = 0
	NoLeadingUnderscores Flags = 0x1     // ptr64, cdecl instead of __ptr64, __cdecl
	NoMSKeywords         Flags = 0x2     // no __ptr64, __cdecl and the like
	NoFunctionReturns    Flags = 0x4     // no type returned
	NoAllocationModel    Flags = 0x8     // accepted; nothing is printed of it
	NoAllocationLanguage Flags = 0x10    // no calling convention
	NoMSThisType         Flags = 0x20    // half of NoThisType; does nothing without the other
	NoCVThisType         Flags = 0x40    // half of NoThisType; does nothing without the other
	NoThisType           Flags = 0x60    // nothing about the this pointer
	NoAccessSpecifiers   Flags = 0x80    // no public:, protected:, private:
	NoThrowSignatures    Flags = 0x100   // no noexcept, no throw(...)
	NoMemberType         Flags = 0x200   // no static, no virtual
	NoReturnUDTModel     Flags = 0x400   // accepted; nothing is printed of it
	ThirtyTwoBitDecode   Flags = 0x800   // accepted; the same names are read with and without
	NameOnly             Flags = 0x1000  // scopes, name and template arguments
	NoArguments          Flags = 0x2000  // no parameters; see TypeOnly
	TypeOnly             Flags = 0x2000  // the name is that of a type, as in ".?AVfoo@@" without its dot
	NoSpecialSyms        Flags = 0x4000  // leaves vftables, RTTI, string literals and thunks decorated
	NoECSU               Flags = 0x8000  // no enum, class, struct, union
	NoIdentCharCheck     Flags = 0x10000 // any byte may be part of an identifier
	NoPtr64              Flags = 0x20000 // no __ptr64
)

// CurrentGrammar also reads what compilers have begun to emit since Visual Studio 2019, which the measured
// undecorator leaves alone or garbles: char8_t, operator<=>, template<auto> arguments, __regcall. It names what the
// compiler made ($TSS0), spells out every anonymous namespace, and leaves a name that ends too early as it is. It is
// not one of Microsoft's flags.
const CurrentGrammar Flags = 1 << 31
