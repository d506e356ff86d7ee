// Package undname undecorates names of C++. In comes a name as the Microsoft C++ compilers decorate it, out goes its
// declaration, in the spelling of Microsoft's own undecorator.
//
//	?Push@Stack@app@@QEAAXPEBD@Z
//	^    name and scopes, innermost first, "@" ends one, "@@" ends all
//	                  ^  member of a class: public, near         (A-H private, I-P protected, Q-X public)
//	                   ^^ this: __ptr64, not const
//	                     ^ calling convention  (A __cdecl, G __stdcall, E __thiscall, ...)
//	                      ^ type returned      (X void)
//	                       ^^^^ parameters     (P pointer, E __ptr64, B const, D char), "@" ends them
//	                            ^ exceptions   (Z: not said)
//
// The grammar has no specification by its owner. The letters are those that the Clang and LLVM documentation and tests
// list. The spelling, with its blanks and omissions, is that of the undecorator in the C runtime of Visual Studio 2019.
// It was measured on names from public PDBs. Where that undecorator is odd, so is this package: a missing end prints "
// ?? ", a function type without Microsoft keywords loses its parameters.
//
// It differs from that undecorator, on purpose, in what no compiler emits. A reference to a missing name or type leaves
// the name as it is. The template parameters $D and $Q are spelled out. cli::pin_ptr has its closing bracket.
// NoSpecialSyms and NoIdentCharCheck do what their documentation says; the measured undecorator ignores them.
//
// What compilers emit since then (char8_t, operator<=>, template<auto>) is read when CurrentGrammar is given.
package undname
