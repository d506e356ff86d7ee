package undname

// Display returns a name as a debugger shows it: scopes, name and template arguments, without __ptr64. Names of x86
// modules lose the decorations of C as well. It reads what compilers emit today.
func Display(name string, x86 bool) string {
	if x86 && name != "" && name[0] != '?' {
		return StripC(name)
	}
	return Undecorate(name, NameOnly|NoPtr64|CurrentGrammar)
}

// StripC takes off the decorations of C names in x86 modules:
//
//	_name      __cdecl
//	_name@8    __stdcall, 8 bytes of parameters
//	@name@8    __fastcall
//	name@@16   __vectorcall
//
// In modules of other machines such characters belong to the name.
func StripC(name string) string {
	if name == "" || name[0] == '?' {
		return name
	}
	digits := len(name)
	for digits > 0 && name[digits-1] >= '0' && name[digits-1] <= '9' {
		digits--
	}
	at := digits - 1
	sized := digits < len(name) && at > 0 && name[at] == '@'
	switch {
	case sized && at > 1 && name[at-1] == '@':
		return name[:at-1]
	case sized && at > 1 && (name[0] == '_' || name[0] == '@'):
		return name[1:at]
	case name[0] == '_' && len(name) > 1:
		return name[1:]
	}
	return name
}
