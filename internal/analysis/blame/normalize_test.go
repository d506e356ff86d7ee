package blame_test

import (
	"strings"
	"testing"

	"heapdrift/internal/analysis/blame"
)

func TestNormalize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		// C, in 64 and in 32 bits
		{"main", "main"},
		{"_main", "main"},
		{"_malloc_base", "malloc_base"},
		{"__malloc_base", "malloc_base"},
		{"_RtlUserThreadStart", "RtlUserThreadStart"},
		{"__RtlUserThreadStart@8", "RtlUserThreadStart"},
		{"_HeapAlloc@12", "HeapAlloc"},
		{"@fastcall@8", "fastcall"},
		{"vectorcall@@16", "vectorcall"},
		{"__scrt_common_main_seh", "scrt_common_main_seh"},
		{"foo@bar", "foo@bar"},
		{"_", "_"},
		// declarations
		{"void __cdecl Foo::Bar(int, char const *)", "Foo::Bar"},
		{"public: virtual int __thiscall Foo::Bar(void) const", "Foo::Bar"},
		{"public: class std::vector<int> & __cdecl Foo::Items(void) const &", "Foo::Items"},
		{"char *Foo::Name()", "Foo::Name"},
		{"Foo::Bar(void (__cdecl *)(int))", "Foo::Bar"},
		{"Foo::~Foo(void)", "Foo::~Foo"},
		// templates
		{"HashTable<PROC_ID,shadow_rec>::insert", "HashTable<T>::insert"},
		{"std::vector<std::pair<int,char>,std::allocator<std::pair<int,char> > >::_Emplace_reallocate<int const &>",
			"std::vector<T>::_Emplace_reallocate"},
		{"BatteryMeter::SampleBuffer<float>::operator+=", "BatteryMeter::SampleBuffer<T>::operator+="},
		{"f<(A::B)->C>::g", "f<T>::g"},
		{"f<(1>2)>::g", "f<T>::g"},
		{"f<&A::operator-> >::g", "f<T>::g"},
		{"f<&A::operator< >::g", "f<T>::g"},
		{"f<int", "f<int"},
		// operators
		{"BatteryMeter::Canvas::operator<<", "BatteryMeter::Canvas::operator<<"},
		{"A::operator<", "A::operator<"},
		{"A::operator<<int>(int)", "A::operator<"},
		{"A::operator<<<int>(int)", "A::operator<<"},
		{"A::operator< <int>", "A::operator<"},
		{"bool A::operator<(A const &) const", "A::operator<"},
		{"A::operator->", "A::operator->"},
		{"A::operator->*", "A::operator->*"},
		{"A::operator()(int)", "A::operator()"},
		{"A::operator()<int>(int)", "A::operator()"},
		{"clone<int>", "clone"},
		{"A::each<int>::<lambda_1>::operator()<int>", "A::each::<lambda>::operator()"},
		{"A::operator[]", "A::operator[]"},
		{"A::operator>>=", "A::operator>>="},
		{"A::operator<=>", "A::operator<=>"},
		{"operator new", "operator new"},
		{"operator new[]", "operator new[]"},
		{"void * __cdecl operator new[](unsigned __int64)", "operator new[]"},
		{"void operator delete(void *)", "operator delete"},
		{"A::operator std::vector<int> const &() const", "A::operator std::vector<T> const&"},
		{"A::operator bool", "A::operator bool"},
		{"A::operator unsigned int(void)", "A::operator unsigned int"},
		{"operator\"\" _km(double)", "operator\"\"_km"},
		{"operators::run", "operators::run"},
		{"my_operator", "my_operator"},
		// lambdas
		{"main::<lambda_0>::operator()", "main::<lambda>::operator()"},
		{"<lambda_9f2c0a1b2c3d4e5f>::operator()", "<lambda>::operator()"},
		{"main::__l2::<lambda_1>::operator()", "main::<lambda>::operator()"},
		{"`main'::`2'::<lambda_1>::operator()(int)const ", "main::<lambda>::operator()"},
		{"`int __cdecl main(int,char **)'::`2'::<lambda_1>::operator()", "main::<lambda>::operator()"},
		{"main::$_0::operator()", "main::<lambda>::operator()"},
		{"main::'lambda'(int)::operator()(int) const", "main::<lambda>::operator()"},
		{"main::{lambda(int)#1}::operator()(int) const", "main::<lambda>::operator()"},
		{"main()::{lambda(int)#2}::operator()", "main::<lambda>::operator()"},
		{"A::f(int) const::{lambda()#1}::operator()() const", "A::f::<lambda>::operator()"},
		{"<lambda_1>::<lambda_invoker_cdecl>", "<lambda>::<lambda_invoker>"},
		{"catalog::Index::Rebuild::<lambda_0>::operator()", "catalog::Index::Rebuild::<lambda>::operator()"},
		// anonymous namespaces
		{"BatteryMeter::`anonymous namespace'::CollectReadings", "BatteryMeter::<anonymous>::CollectReadings"},
		{"`anonymous-namespace'::f", "<anonymous>::f"},
		{"(anonymous namespace)::f(int)", "<anonymous>::f"},
		{"A::(anonymous namespace)::f(int)", "A::<anonymous>::f"},
		{"{anonymous}::f", "<anonymous>::f"},
		{"_GLOBAL__N_1::f", "<anonymous>::f"},
		// parts, clones, thunks
		{"Foo::Bar [clone .isra.0]", "Foo::Bar"},
		{"Foo::Bar$catch$0", "Foo::Bar"},
		{"Foo::Bar$fin$2", "Foo::Bar"},
		{"`Foo::Bar'::`1'::dtor$3", "Foo::Bar"},
		{"`Foo::Bar'::`1'::catch$0", "Foo::Bar"},
		{"Foo::Bar::filt$0", "Foo::Bar"},
		{"Foo::catch$x", "Foo::catch$x"},
		{"foo.cold", "foo"},
		{"foo.cold.1", "foo"},
		{"foo.part.0.constprop.1", "foo"},
		{"foo.llvm.1234567890", "foo"},
		{"@ILT+1234(_foo)", "foo"},
		{"@ILT+10(?Run@Worker@app@@QEAAXXZ)", "app::Worker::Run"},
		{"@ILT+10(?ÜberRun@app@@YAXXZ)", "?ÜberRun@app@@YAXXZ"},
		{"@ILT+10(?Run@@YAXXZ)", "Run"},
		{"@ILT+10(?Run)", "?Run"},
		{"@ILT+10(?0Worker@app@@QEAA@XZ)", "?0Worker@app@@QEAA@XZ"},
		{"@ILT+10(?Run@9@@YAXXZ)", "?Run@9@@YAXXZ"},
		{"@ILT+10(?@app@@YAXXZ)", "?@app@@YAXXZ"},
		{"@ILT+10(?Run@a-b@@YAXXZ)", "?Run@a-b@@YAXXZ"},
		{"[thunk]: public: virtual void __cdecl A::f`adjustor{8}' (void)", "A::f"},
		{"A::f`vtordisp{-4,0}'", "A::f"},
		{"non-virtual thunk to A::f(int)", "A::f"},
		{"A::`scalar deleting destructor'", "A::`scalar deleting destructor'"},
		{"`dynamic initializer for 'x''", "`dynamic initializer for 'x''"},
		{"A::`dynamic initializer for 'A::x<int>''(void)", "A::`dynamic initializer for 'A::x<int>''"},
		// Rust
		{"app::parse::h0123456789abcdef", "app::parse"},
		{"app::main::closure$0", "app::main::<lambda>"},
		{"app::main::{{closure}}", "app::main::<lambda>"},
		{"app::main::{closure#0}", "app::main::<lambda>"},
		{"app::impl$3::run<i32>", "app::impl$::run"},
		{"<alloc::vec::Vec<T,A> as core::ops::Drop>::drop", "<alloc::vec::Vec<T> as core::ops::Drop>::drop"},
		{"alloc::vec::impl$4::push<u8>", "alloc::vec::impl$::push"},
		// others
		{"System.String.Concat", "System.String.Concat"},
		{"  foo  ", "foo"},
	} {
		if got := blame.NormalizeFunction(c.in); got != c.want {
			t.Errorf("Normalize(%q) = %q, want %q", c.in, got, c.want)
		}
		if got := blame.NormalizeFunction(c.want); got != c.want {
			t.Errorf("Normalize(%q) = %q: not settled", c.want, got)
		}
	}
}

func TestNormalizeModule(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"BatteryMeter": "batterymeter", `C:\app\Foo.DLL`: "foo", "foo-1.2.3": "foo", "foo_v2": "foo", "foo.4812": "foo",
		"foo-1.2.3.dll": "foo", "foo_1_2_3": "foo",
		"foo-8f3a9c1d": "foo", "foo_2024": "foo", "foo-v10.4": "foo",
		"msvcr120": "msvcr120", "qt5core": "qt5core", "sqlite3": "sqlite3", "d3d11": "d3d11", "MSVCP140_1": "msvcp140_1",
		"plugin_2": "plugin_2", "d3dcompiler_47": "d3dcompiler_47",
		"api-ms-win-core-synch-l1-2-0": "api-ms-win-core-synch-l1-2-0", "kernel.appcore": "kernel.appcore",
		"a-deadbeef": "a-deadbeef", "1.2.3": "1", "": "", "x.exe": "x", ".dll": ".dll",
	} {
		if got := blame.NormalizeModule(in); got != want {
			t.Errorf("NormalizeModule(%q) = %q, want %q", in, got, want)
		}
		if got := blame.NormalizeModule(want); got != want {
			t.Errorf("NormalizeModule(%q) = %q: not settled", want, got)
		}
	}
}

// Normalizing a name twice gives the same as once, also for names that are cut or damaged.
func TestNormalizeDamaged(t *testing.T) {
	t.Parallel()
	settled := func(s string) {
		once := blame.NormalizeFunction(s)
		if twice := blame.NormalizeFunction(once); twice != once {
			t.Errorf("Normalize(%q) = %q, again %q", s, once, twice)
		}
	}
	for _, s := range []string{
		"public: class std::vector<int> & __cdecl Foo<A::B>::`anonymous namespace'::Items<x>(void (*)(int)) const &",
		"`int __cdecl main(int,char **)'::`2'::<lambda_1>::operator()",
		"A::operator std::vector<int> const &() const", "A::operator<<<int>(int) [clone .cold.1]",
		"@ILT+10(?Run@Worker@app@@QEAAXXZ)", "[thunk]: public: virtual void __cdecl A::f`adjustor{8}' (void)",
		"<alloc::vec::Vec<T,A> as core::ops::Drop>::drop::h0123456789abcdef", "main::{lambda(int)#1}::operator()(int) const",
		"A::`dynamic initializer for 'A::x<int>''(void)", "__RtlUserThreadStart@8",
	} {
		for cut := range len(s) {
			settled(s[:cut])
			settled(s[cut:])
			for bit := range 8 {
				settled(s[:cut] + string(s[cut]^1<<bit) + s[cut+1:])
			}
		}
	}
	settled(strings.Repeat("<", 20_000))
	settled(strings.Repeat("A<B>::", 5_000))
	settled(strings.Repeat("`", 8_000) + strings.Repeat("'", 8_000))
}

func FuzzNormalize(f *testing.F) {
	for _, s := range []string{"A::operator<<int>(int)", "`void f(int)'::`2'::<lambda_1>::operator()",
		"@ILT+1(?f@N@@YAXXZ)", "f.cold.1 [clone .x]", "a::'lambda0'(b)::operator()", "<A<B> as C<D>>::e", "x::{closure#0}",
		"'''```<<<>>>((({{{", "_f@8", "A::operator B<C> const &()"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := blame.NormalizeFunction(s)
		if twice := blame.NormalizeFunction(once); twice != once {
			t.Errorf("Normalize(%q) = %q, again %q", s, once, twice)
		}
		if len(once) > 5*len(s)+16 {
			t.Errorf("Normalize(%q) grew to %d bytes", s, len(once))
		}
		module := blame.NormalizeModule(s)
		if again := blame.NormalizeModule(module); again != module {
			t.Errorf("NormalizeModule(%q) = %q, again %q", s, module, again)
		}
	})
}
