package blame

import "strings"

// systemModules are images of Windows and of the run times that come with it, known by name where the evidence gives no
// path.
var systemModules = newGlobs("ntdll", "ntdll_*", "kernel32", "kernelbase", "kernel.appcore", "ntoskrnl", "ntkrnlmp",
	"ntkrnlpa", "ntkrpamp", "win32k", "win32kfull", "win32kbase", "hal", "wow64*", "xtajit*",
	"user32", "gdi32", "gdi32full", "gdiplus", "win32u", "imm32", "msctf", "usp10", "lpk", "uxtheme", "dwmapi", "comctl32",
	"comdlg32", "shell32", "shlwapi", "shcore", "explorerframe", "windows.*", "twinapi*", "coreuicomponents",
	"coremessaging", "textinputframework", "dui70", "duser", "propsys",
	"combase", "ole32", "oleaut32", "oleacc", "rpcrt4", "clbcatq", "actxprxy", "urlmon", "wininet", "winhttp", "iertutil",
	"mshtml", "jscript*", "vbscript", "msxml#", "ieframe", "webio", "edgehtml", "chakra",
	"advapi32", "sechost", "secur32", "sspicli", "schannel", "crypt32", "cryptbase", "cryptsp", "cryptnet", "bcrypt",
	"bcryptprimitives", "ncrypt*", "rsaenh", "dpapi", "wintrust", "msasn1", "gpapi", "netapi32", "netutils", "samcli",
	"logoncli", "wkscli", "srvcli", "profapi", "userenv",
	"ws2_32", "wsock32", "mswsock", "iphlpapi", "dnsapi", "nsi", "rasapi32", "rasman", "fwpuclnt", "setupapi", "cfgmgr32",
	"devobj", "hid", "winusb", "winmm*", "wdmaud", "dsound", "xaudio*", "mmdevapi", "audioses", "avrt", "mf", "mfplat",
	"mfcore", "mfreadwrite", "evr", "quartz", "avifil32", "msvfw32",
	"d3d8*", "d3d9*", "d3d1?", "d3d1?core", "d3d1?_*", "d3d10warp", "d3dcompiler_*", "dxgi", "dxcore", "dcomp", "d2d1",
	"dwrite", "ddraw", "dxva2", "opengl32", "glu32", "windowscodecs*", "atmlib", "t2embed", "fontsub", "mscms", "icm32",
	"version", "psapi", "pdh", "wevtapi", "tdh", "wer", "faultrep", "dbgcore", "msi", "mpr", "winspool", "winsta",
	"wtsapi32", "powrprof", "ntmarta", "imagehlp", "wbemcomn", "wbemprox", "wbemsvc", "fastprox", "wmiutils", "wldp",
	"apphelp", "aclayers", "acgenral", "sfc", "sfc_os", "cabinet", "esent", "odbc32", "odbccp32", "sqlsrv32", "msdart",
	"oledb32", "msado15", "taskschd", "rstrtmgr", "umpdc", "ucrtbase*", "rpcss", "normaliz", "xmllite", "amsi", "mpoav",
	"mpclient", "dhcpcsvc*", "umdh", "api-ms-win-*", "ext-ms-*",
	"clr", "coreclr", "mscorwks", "mscorsvr", "mscoree*", "mscoreei", "clrjit", "mscorjit", "clrgc", "mscorlib*",
	"system.*.ni", "system.ni", "hostpolicy", "hostfxr", "fusion", "diasymreader")

// runtimeModules are the run-time libraries that programs bring along: the system's by name wherever they lie.
var runtimeModules = newGlobs("ucrtbase", "ucrtbased", "vcruntime#*", "msvcp#*", "msvcr#*", "msvcrt", "msvcrtd",
	"msvcirt", "msvcp_win", "mfc#*", "mfcm#*", "atl#*", "atl", "concrt#*", "vccorlib#*", "vcomp#*", "vcamp#*",
	"libomp#*", "clang_rt.*")

// runtimeSources are folders of the sources of the run-time libraries, of which programs link parts in.
var runtimeSources = []string{`\minkernel\crts\`, `\vctools\crt\`, `\vctools\langapi\`, `\vctools\vc7libs\`,
	`\vc\crt\src\`, `\crt\src\`, `\crt_bld\`, `\atlmfc\src\`, `\onecore\internal\`, `\onecoreuap\`, `\minkernel\ntdll\`,
	`\minkernel\ntos\`, `\src\externalapis\`, `\ndp\clr\src\`, `\coreclr\src\`}

// runtimeHeaders are folders of their headers. Evidence without inline frames gives a function the line of what was
// inlined in it, so a header says whose a function is only where the function may be the header's: see
// isHeaderFunction.
var runtimeHeaders = []string{`\vc\include\`, `\vc\tools\msvc\`, `\vc98\include\`, `\vc7\include\`, `\atlmfc\include\`,
	`\windows kits\10\include\`, `\windows kits\8.1\include\`, `\windows kits\8.0\include\`}

// notSystemFolders lie in the folder of Windows and hold programs of services and build machines.
var notSystemFolders = []string{`temp\`, `serviceprofiles\`, `system32\config\systemprofile\`,
	`syswow64\config\systemprofile\`, `tasks\`, `ccmcache\`, `installer\`}

// isSystemPath recognises paths in the folder of Windows, in the spellings of the loader, of the kernel and of tools.
func isSystemPath(path string) bool {
	p := strings.ToLower(strings.ReplaceAll(path, "/", `\`))
	for _, prefix := range []string{`\??\`, `\\?\`, `\\.\`, `\dosdevices\`, `\global??\`} {
		p = strings.TrimPrefix(p, prefix)
	}
	for _, root := range []string{`\systemroot\`, `%systemroot%\`, `%windir%\`} {
		if rest, ok := strings.CutPrefix(p, root); ok {
			return isSystemFolder(rest)
		}
	}
	switch {
	case strings.HasPrefix(p, `\device\`): // \Device\HarddiskVolume3\Windows\…
		_, rest, ok := strings.Cut(p[len(`\device\`):], `\`)
		if !ok {
			return false
		}
		p = rest
	case len(p) > 2 && p[1] == ':' && p[2] == '\\':
		p = p[3:]
	case strings.HasPrefix(p, `\\`): // another machine's
		return false
	default: // UMDH and the kernel leave the drive out at times
		var rooted bool
		if p, rooted = strings.CutPrefix(p, `\`); !rooted {
			return false
		}
	}
	for _, root := range []string{`windows\`, `winnt\`} {
		if rest, ok := strings.CutPrefix(p, root); ok {
			return isSystemFolder(rest)
		}
	}
	return false
}

func isSystemFolder(rest string) bool {
	for _, f := range notSystemFolders {
		if strings.HasPrefix(rest, f) {
			return false
		}
	}
	return true
}

// isRuntimeSource recognises the functions of the run-time libraries that were linked into an image.
func isRuntimeSource(file, function string) bool {
	if file == "" {
		return false
	}
	lower := `\` + strings.ToLower(backslashes(file)) // the PDBs of the UCRT name minkernel\crts\… without a drive
	return containsAny(lower, runtimeSources) || isHeaderFunction(function) && containsAny(lower, runtimeHeaders)
}

func containsAny(s string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// isHeaderFunction reports whether a function's name is one that Microsoft's headers define: with a reserved
// underscore, in one of their namespaces, or of stdio's.
func isHeaderFunction(function string) bool {
	for _, p := range []string{"_", "std::", "stdext::", "ATL::", "WTL::", "Concurrency::", "wil::", "winrt::"} {
		if strings.HasPrefix(function, p) {
			return true
		}
	}
	return !strings.Contains(function, "::") &&
		(strings.Contains(function, "printf") || strings.Contains(function, "scanf"))
}

// isTeams reports whether a module of a system's name is the team's all the same. Teams upload the PDBs of Windows too,
// but those name no lines.
func isTeams(m *Module) bool { return m.Own && m.Private }

// IsOwn reports whether a module is the team's: of one whose PDB it uploaded either the PDB names lines, or the
// evidence shows that the image lies outside of Windows. Public PDBs of Windows that a member uploads make nothing the
// team's.
func (m *Module) IsOwn() bool {
	return m.Own && (m.Private || strings.ContainsAny(m.Path, `\/`) && !isSystemPath(m.Path))
}

// origin says whose a frame is, without the project's rules.
func origin(f *Frame, name *moduleName) Mark {
	m := f.Module
	switch {
	case f.Kernel:
		return Mark{LayerSystem, "origin/kernel"}
	case m == nil:
		return Mark{LayerThirdParty, "origin/no-module"}
	case isSystemPath(m.Path) && (!isTeams(m) || systemModules.match(name)): // services of the team lie there too
		return Mark{LayerSystem, "origin/path"}
	case runtimeModules.match(name):
		return Mark{LayerSystem, "origin/runtime-name"}
	case !strings.ContainsAny(m.Path, `\/`) && !m.Program && !isTeams(m) && systemModules.match(name):
		return Mark{LayerSystem, "origin/system-name"}
	case isRuntimeSource(f.File, f.Function):
		return Mark{LayerSystem, "origin/runtime-source"}
	case m.IsOwn():
		return Mark{LayerApp, "origin/own-symbols"}
	case m.Private:
		return Mark{LayerApp, "origin/private-symbols"}
	case m.Program:
		return Mark{LayerApp, "origin/program"}
	}
	return Mark{LayerThirdParty, "origin/third-party"}
}
