package downloads

import (
	"fmt"
	"slices"
)

// A System has the commands with which users of an operating system get the program.
type System struct {
	Name  string // for people: "Windows"
	Lines []Line
}

// A Line is a command for one shell. ID is the id of its HTML element, one for each place on a page.
type Line struct{ ID, Shell, Command string }

// Path is the path of the program of a platform on a server.
func (p Platform) Path() string { return "/download/" + p.String() + "/" + p.Program() }

// systemNames are the systems in the order of the page.
var systemNames = []struct{ system, name string }{{"windows", "Windows"}, {"linux", "Linux"}, {"darwin", "macOS"}}

// Systems returns the commands that download programs of a server. For each system they name the architecture that most
// machines have.
func Systems(server string, programs []Program) []System {
	var list []System
	for _, s := range systemNames {
		preferred := map[string]string{"darwin": "arm64"}[s.system]
		if preferred == "" {
			preferred = "amd64"
		}
		at := slices.IndexFunc(programs, func(p Program) bool {
			return p.Platform == Platform{System: s.system, Architecture: preferred}
		})
		if at < 0 {
			at = slices.IndexFunc(programs, func(p Program) bool { return p.Platform.System == s.system })
		}
		if at >= 0 {
			list = append(list, System{s.name, linesOf(server, &programs[at])})
		}
	}
	return list
}

// linesOf are the commands that fetch a program and check its digest.
func linesOf(server string, p *Program) []Line {
	from := server + p.Platform.Path()
	switch p.Platform.System {
	case "windows":
		return []Line{
			{"download-powershell", "PowerShell", fmt.Sprintf("Invoke-WebRequest -UseBasicParsing %s -OutFile heapdrift.exe; "+
				"if ((Get-FileHash heapdrift.exe).Hash -ne '%s') { Remove-Item heapdrift.exe; throw 'wrong digest' }", from, p.SHA256)},
			{"download-cmd", "cmd", fmt.Sprintf("curl -fSO %s && certutil -hashfile heapdrift.exe SHA256 | findstr /i %s || "+
				"del heapdrift.exe", from, p.SHA256)},
		}
	case "darwin":
		return []Line{{"download-macos", "sh", shell(from, p.SHA256, "shasum -a 256")}}
	}
	return []Line{{"download-sh", "sh", shell(from, p.SHA256, "sha256sum")}}
}

func shell(from, digest, check string) string {
	return fmt.Sprintf("curl -fSO %s && echo '%s  heapdrift' | %s -c && chmod +x heapdrift", from, digest, check)
}
