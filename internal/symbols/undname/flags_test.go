package undname_test

import (
	"testing"

	"heapdrift/internal/symbols/undname"
)

func TestFlags(t *testing.T) {
	const (
		method = "?f@C@@UEBAPEAXH@Z"
		data   = "?x@C@@0HA"
		throws = "?f@@YAXX_E"
		old    = "?f@@YAXXH@" // of compilers before Visual C++ 7
		local  = "?x@@3W4E@@A"
	)
	for _, test := range []struct {
		name  string
		flags undname.Flags
		want  string
	}{
		{method, undname.Complete, "public: virtual void * __ptr64 __cdecl C::f(int)const __ptr64"},
		{method, undname.NoLeadingUnderscores, "public: virtual void * ptr64 cdecl C::f(int)const ptr64"},
		{method, undname.NoMSKeywords, "public: virtual void * C::f(int)const "},
		{method, undname.NoPtr64, "public: virtual void * __cdecl C::f(int)const "},
		{method, undname.NoFunctionReturns, "public: virtual __cdecl C::f(int)const __ptr64"},
		{method, undname.NoAllocationLanguage, "public: virtual void * __ptr64 C::f(int)const __ptr64"},
		{method, undname.NoMSThisType, "public: virtual void * __ptr64 __cdecl C::f(int)const __ptr64"},
		{method, undname.NoCVThisType, "public: virtual void * __ptr64 __cdecl C::f(int)const __ptr64"},
		{method, undname.NoThisType, "public: virtual void * __ptr64 __cdecl C::f(int)"},
		{method, undname.NoAccessSpecifiers, "virtual void * __ptr64 __cdecl C::f(int)const __ptr64"},
		{method, undname.NoMemberType, "public: void * __ptr64 __cdecl C::f(int)const __ptr64"},
		{method, undname.NoArguments, "public: virtual void * __ptr64 __cdecl C::fconst __ptr64"},
		{method, undname.NoArguments | undname.NoThisType, "public: virtual void * __ptr64 __cdecl C::f"},
		{method, undname.NameOnly, "C::f"},
		{data, undname.NoAccessSpecifiers, "static int C::x"},
		{data, undname.NoMemberType, "private: int C::x"},
		{data, undname.NoAccessSpecifiers | undname.NoMemberType, "int C::x"},
		{throws, undname.Complete, "void __cdecl f(void) noexcept"},
		{throws, undname.NoThrowSignatures, "void __cdecl f(void)"},
		{old, undname.Complete | undname.CurrentGrammar, "void __cdecl f(void) throw(int)"},
		{old, undname.NoThrowSignatures | undname.CurrentGrammar, "void __cdecl f(void)"},
		{local, undname.NoECSU, "E x"},
		{"??_7C@@6B@", undname.NoSpecialSyms, "??_7C@@6B@"},
		{"??_C@_01A@a?$AA@", undname.NoSpecialSyms, "??_C@_01A@a?$AA@"},
		{"??0a.b@@QAE@XZ", undname.Complete, "??0a.b@@QAE@XZ"},
		{"??0a.b@@QAE@XZ", undname.NoIdentCharCheck, "public: __thiscall a.b::a.b(void)"},
		{"?AVC@n@@", undname.TypeOnly, "class n::C"},
		{"?AVC@n@@", undname.TypeOnly | undname.NoECSU, "n::C"},
		{"PEAV?$C@H@n@@", undname.TypeOnly, "class n::C<int> * __ptr64"},
		{"$$A6AXH@Z", undname.TypeOnly, "void __cdecl(int)"},
		{"_f@8", undname.TypeOnly, "_f@8"},
		{"??$f@_Z@@YAXXZ", undname.NameOnly, "f<UNKNOWN>"},
		{"??$f@_Z@@YAXXZ", undname.NameOnly | undname.CurrentGrammar, "??$f@_Z@@YAXXZ"},
		{"??$f@H$Z@@YAXXZ", undname.NameOnly, "f<int>"},
		{"??$f@H$Z@@YAXXZ", undname.NameOnly | undname.CurrentGrammar, "??$f@H$Z@@YAXXZ"},
	} {
		if got := undname.Undecorate(test.name, test.flags); got != test.want {
			t.Errorf("%s, flags %#x\n got %q\nwant %q", test.name, test.flags, got, test.want)
		}
	}
}

func TestStripC(t *testing.T) {
	for name, want := range map[string]string{
		"_main": "main", "_f@8": "f", "_f@12": "f", "@f@8": "f", "f@@16": "f", "_f@@16": "_f",
		"__imp__f@4": "_imp__f", "f": "f", "": "", "_": "_", "@": "@", "f@8": "f@8", "_f@": "f@", "_@8": "@8",
		"@@8": "@@8", "?f@@YAXXZ": "?f@@YAXXZ", "@ILT+5(_main)": "@ILT+5(_main)", "123": "123", "_1": "1",
	} {
		if got := undname.StripC(name); got != want {
			t.Errorf("%q becomes %q, not %q", name, got, want)
		}
	}
}
