package blame

import "strings"

// thunkPrefixes stand before the name of the function that a thunk leads to.
var thunkPrefixes = []string{"[thunk]:", "non-virtual thunk to ", "virtual thunk to ", "covariant return thunk to "}

// thunkTails begin what MSVC puts behind it, up to the closing quote.
var thunkTails = []string{"`adjustor{", "`vtordisp{", "`vtordispex{", "`vcall'{"}

// stripThunk leads from a thunk to its target: @ILT+5(target), [thunk]:target`adjustor{8}'.
func stripThunk(s string) string {
	for {
		before := s
		if rest, ok := strings.CutPrefix(s, "@ILT+"); ok {
			if _, target, ok := strings.Cut(rest, "("); ok {
				s = strings.TrimSpace(strings.TrimSuffix(target, ")"))
			}
		}
		for _, prefix := range thunkPrefixes {
			if len(s) > len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
				s = strings.TrimSpace(s[len(prefix):])
			}
		}
		for _, tail := range thunkTails {
			if i := strings.Index(s, tail); i > 0 {
				s = strings.TrimSpace(s[:i])
			}
		}
		if s == before || s == "" {
			return before
		}
	}
}

// pieces mark parts and copies of a function that compilers put elsewhere: nothing but numbers follows.
var pieces = []string{"$catch$", "$fin$", "$dtor$", "$filt$", ".cold", ".part", ".constprop", ".isra",
	".lto_priv", ".llvm", ".__uniq"}

// words follow the arguments of a member function.
var words = []string{" const", " volatile", " noexcept", " restrict", " __ptr64", " __restrict", "&&", "&"}

// stripTail takes off what compilers put behind names: [clone .cold], $catch$0, .llvm.123, Rust's ::h0123456789abcdef.
func stripTail(s string) string {
	for {
		before := s
		if i := strings.Index(s, " [clone "); i > 0 && strings.HasSuffix(s, "]") {
			s = s[:i]
		}
		unnumbered := strings.TrimRight(s, ".0123456789")
		for _, p := range pieces {
			if name, ok := strings.CutSuffix(unnumbered, p); ok && name != "" {
				s = name
				break
			}
		}
		s = stripFunclet(s, unnumbered)
		if i := len(s) - len("::h") - hashDigits; i > 0 && s[i:i+3] == "::h" &&
			strings.Trim(s[i+3:], "0123456789abcdef") == "" {
			s = s[:i]
		}
		for _, w := range words {
			if rest, ok := strings.CutSuffix(s, w); ok && strings.HasSuffix(strings.TrimRight(rest, " "), ")") {
				s = strings.TrimRight(rest, " ")
			}
		}
		if s == before {
			return s
		}
	}
}

// funclets are the names that MSVC gives the blocks of a function that handle exceptions, in the function's scope.
var funclets = []string{"::catch$", "::fin$", "::filt$", "::dtor$"}

// stripFunclet leads from `f'::`1'::catch$0 to f: x64 calls such a block as a function, x86 has it in its own.
// Unnumbered is the name without the number at its end.
func stripFunclet(s, unnumbered string) string {
	for _, f := range funclets {
		name, ok := strings.CutSuffix(unnumbered, f)
		if !ok || name == "" || unnumbered == s {
			continue
		}
		if i := strings.LastIndex(name, "::`"); i > 0 && strings.HasSuffix(name, "'") && isDigits(name[i+3:len(name)-1]) {
			name = name[:i]
		}
		if quoted, ok := strings.CutPrefix(name, "`"); ok && closingQuote(name, 0) == len(name)-1 {
			name = quoted[:len(quoted)-1]
		}
		return name
	}
	return s
}

// hashDigits is the length of the hash that ends the names of Rust.
const hashDigits = 16

// numbered are components that compilers number: $_0 and impl$3, as the debuggers of C++ see Rust. What they stand for
// is in the second half.
var numbered = [][2]string{
	{"$_", lambdaName}, {"closure$", lambdaName}, {"closure_env$", lambdaName},
	{"impl$", "impl$"}, {"async_fn$", "async_fn$"}, {"async_block$", "async_block$"}, {"?A0x", anonymousName},
	{"_GLOBAL__N_", anonymousName},
}

// numberless takes the number off a component that has one.
func numberless(s string) string {
	for _, n := range numbered {
		if tail, ok := strings.CutPrefix(s, n[0]); ok && tail != "" && strings.Trim(tail, "0123456789abcdefABCDEF") == "" {
			return n[1]
		}
	}
	return s
}

// isLocalScope recognises the scopes that number the blocks of a function: `2' and __l2.
func isLocalScope(s string) bool {
	tail, ok := strings.CutPrefix(s, "__l")
	return ok && isDigits(tail) || isDigits(s)
}
