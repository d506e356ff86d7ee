// Package kit writes scripts that record a process on a Windows machine to which no program may be brought: with tools
// of Windows, its SDK or Sysinternals. In come a project, the program's image and a kind of evidence; out go the files
// of a folder, for cmd and for PowerShell: they turn recording on, take the evidence, restore the settings and upload.
//
// The texts are in scripts/, with names in @ instead of values. They are not templates of text/template: that package
// finds methods by name, and the linker of the client could leave out no method of any type (docs/adr/0050).
package kit

import (
	"embed"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed scripts
var scripts embed.FS

// An Order says what a kit records. Values that a script could read as code are refused.
type Order struct {
	Project  string
	Scenario string // "" is "default"
	Image    string // the file name of the program, app.exe
	Evidence string // the Name of one of Kinds
	Server   string // address of the server to upload to, http://host:port
	// Snapshots is how many snapshots or dumps are taken; 0 for as many as a verdict needs.
	Snapshots int

	// Build, Every and PerWork are used by RecordLine alone. Their zero values are the defaults of heapdrift record.
	Build   string
	Every   time.Duration // between two snapshots; a trace lasts all of them
	PerWork bool          // a snapshot after each piece of work, and not by time
}

// A File is a file of a kit: its name and content.
type File struct{ Name, Text string }

// Limits of an order.
const (
	maxName      = 128 // bytes of a name
	maxSnapshots = 99  // their files are numbered by two digits
	decides      = 12  // snapshots: ten make a leak certain, and two are a reserve
	dumpsDecide  = 5
)

// A Kind is a kind of evidence that a kit records.
type Kind struct {
	Name    string
	Title   string // "Snapshots with UMDH", without the program
	Needs   string // what must be installed
	Decides string // what the evidence tells, and what it costs
	New     bool   // the process must be started after recording was turned on
	// EvidenceFlag is the value of --evidence with which heapdrift record takes evidence of the same sort.
	EvidenceFlag string
	parts        map[string][]string
	files        []string // patterns of what is uploaded
	// snapshots are how many are taken; 0 where the evidence is no series.
	snapshots int
}

// The names of the kinds that verdicts ask for.
const (
	UMDH     = "umdh"
	WPR      = "wpr"
	ProcDump = "procdump"
)

// steps are the files of a kit for cmd, by what they do.
var steps = []struct{ name, file string }{
	{"enable", "1-enable.cmd"}, {"capture", "2-capture.cmd"}, {"clean-up", "3-clean-up.cmd"}, {"upload", "4-upload.cmd"},
}

// Kinds are all kinds of evidence, the most useful first.
var Kinds = []Kind{
	{Name: UMDH, EvidenceFlag: "heap",
		Title: "Snapshots with UMDH", Needs: "Debugging Tools of the Windows SDK", New: true, snapshots: decides,
		Decides: "what each call stack holds, over time. Recording stacks costs speed and memory",
		parts: map[string][]string{"enable": {"elevated", "save", "gflags.enable"},
			"capture": {"elevated", "process", "sidecar", "umdh.capture", "subs"}, "clean-up": {"elevated", "restore"}},
		files: []string{"umdh-*.txt"}},
	{Name: WPR, EvidenceFlag: "trace", Title: "Heap trace with wpr", Needs: "Windows 10 or 11", New: true,
		Decides: "every allocation from its beginning to its end. Record a minute or two: the file grows fast",
		parts: map[string][]string{"enable": {"elevated", "save", "wpr.enable"},
			"capture":  {"elevated", "anyprocess", "sidecar", "wpr.capture", "subs"},
			"clean-up": {"elevated", "cancel.wpr", "restore"}},
		files: []string{"trace*.etl"}},
	{Name: "wpr-virtual", EvidenceFlag: "trace", Title: "VirtualAlloc trace with wpr", Needs: "Windows 10 or 11",
		Decides: "memory that comes from VirtualAlloc alone, for hours if needed",
		parts: map[string][]string{"enable": {"nothing"},
			"capture":  {"elevated", "anyprocess", "sidecar", "wpr.capture", "subs"},
			"clean-up": {"elevated", "cancel.wpr-virtual"}},
		files: []string{"trace*.etl"}},
	{Name: "xperf", EvidenceFlag: "trace",
		Title: "Heap trace with xperf", Needs: "Windows Performance Toolkit of the SDK or ADK",
		Decides: "every allocation of a process that runs already",
		parts: map[string][]string{"enable": {"nothing"},
			"capture":  {"elevated", "process", "sidecar", "xperf.capture", "subs"},
			"clean-up": {"elevated", "cancel.xperf"}},
		files: []string{"trace*.etl"}},
	{Name: "perfview", EvidenceFlag: "trace", Title: "Heap trace with PerfView", Needs: "PerfView.exe, one file",
		Decides: "every allocation of a process that runs already",
		parts: map[string][]string{"enable": {"nothing"},
			"capture": {"elevated", "process", "sidecar", "perfview.capture", "subs"}, "clean-up": {"nothing"}},
		files: []string{"trace*.etl", "trace*.zip"}},
	{Name: ProcDump, EvidenceFlag: "dump",
		Title: "Full dumps with ProcDump", Needs: "procdump.exe of Sysinternals; gflags for call stacks",
		Decides:   "memory that nothing points to, in three dumps; growth in five. Dumps contain all memory, passwords too",
		snapshots: dumpsDecide,
		parts: map[string][]string{"enable": {"elevated", "procdump.enable", "save", "gflags.enable"},
			"capture":  {"elevated", "process", "sidecar", "procdump.capture", "subs"},
			"clean-up": {"elevated", "restore"}},
		files: []string{"dump-*.dmp"}},
	{Name: "debugdiag", EvidenceFlag: "dump", Title: "Full dumps with DebugDiag", Needs: "DebugDiag Collection 2",
		Decides: "memory that nothing points to. Its window injects LeakTrack, so the process may run already",
		parts: map[string][]string{"enable": {"nothing"},
			"capture": {"elevated", "process", "sidecar", "debugdiag.capture", "subs"}, "clean-up": {"nothing"}},
		files: []string{"*.dmp"}},
}

// Find returns the kind of a name.
func Find(name string) (Kind, bool) {
	at := slices.IndexFunc(Kinds, func(k Kind) bool { return k.Name == name })
	if at < 0 {
		return Kind{}, false
	}
	return Kinds[at], true
}

// Names are the names of Kinds.
func Names() []string {
	names := make([]string, len(Kinds))
	for i := range Kinds {
		names[i] = Kinds[i].Name
	}
	return names
}

// An Error names the field of an order that is wrong, and says why.
type Error struct{ Field, Message string }

func (e *Error) Error() string { return e.Field + ": " + e.Message }

// Write writes the files of a kit. Its error is an *Error.
func Write(o Order) ([]File, error) {
	kind, err := o.check()
	if err != nil {
		return nil, err
	}
	var files []File
	for _, step := range steps {
		text, err := kind.script(&o, step.name)
		if err != nil {
			return nil, err
		}
		files = append(files, File{step.file, strings.ReplaceAll(text, "\n", "\r\n")})
	}
	text, err := read("kit.ps1")
	if err != nil {
		return nil, err
	}
	// Windows PowerShell reads a file as UTF-8 only if it begins with this mark.
	files = append(files, File{"kit.ps1", "\uFEFF" + strings.ReplaceAll(o.fill(&kind, text), "\n", "\r\n")})
	return append(files, File{"README.txt", strings.ReplaceAll(o.readme(&kind), "\n", "\r\n")}), nil
}

// check refuses what a script could not hold as it is, and fills in what may be left out.
func (o *Order) check() (Kind, error) {
	kind, ok := Find(o.Evidence)
	if !ok {
		return kind, &Error{"evidence", fmt.Sprintf("%q is none of %s", o.Evidence, strings.Join(Names(), ", "))}
	}
	if o.Scenario == "" {
		o.Scenario = "default"
	}
	names := []struct{ field, value string }{{"project", o.Project}, {"scenario", o.Scenario}, {"image", o.Image}}
	for _, f := range names {
		if !isPlain(f.value) {
			return kind, &Error{f.field, fmt.Sprintf("%q must have letters, digits, spaces and -_.+ alone, %d bytes at most",
				f.value, maxName)}
		}
	}
	if !strings.HasSuffix(strings.ToLower(o.Image), ".exe") {
		return kind, &Error{"image", fmt.Sprintf("%q is no name of a program, such as app.exe", o.Image)}
	}
	at, err := url.Parse(o.Server)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || at.User != nil || at.RawQuery != "" ||
		strings.ContainsFunc(o.Server, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"'`%^&|<>$()", r) }) {
		return kind, &Error{"server", fmt.Sprintf("%q is no address of a server, such as http://heapdrift:8080", o.Server)}
	}
	o.Server = strings.TrimRight(o.Server, "/")
	if o.Snapshots == 0 {
		o.Snapshots = max(kind.snapshots, 1)
	}
	if o.Snapshots < 0 || o.Snapshots > maxSnapshots {
		return kind, &Error{"snapshots", fmt.Sprintf("%d is not between 1 and %d", o.Snapshots, maxSnapshots)}
	}
	return kind, nil
}

// script is the text of a step for cmd.
func (k *Kind) script(o *Order, step string) (string, error) {
	parts := k.parts[step]
	if step == "upload" {
		parts = []string{"upload"}
	}
	var text strings.Builder
	for _, part := range append([]string{"head"}, parts...) {
		more, err := read(part + ".cmd")
		if err != nil {
			return "", err
		}
		text.WriteString(more)
	}
	return o.fill(k, text.String()), nil
}

func read(name string) (string, error) {
	text, err := scripts.ReadFile("scripts/" + name)
	if err != nil {
		return "", fmt.Errorf("kit: %w", err)
	}
	return string(text), nil
}

// fill puts the values of an order in the place of their names.
func (o *Order) fill(k *Kind, text string) string {
	escape := func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
	heap, start := "", "Repeat the work that leaks."
	if k.Name == WPR {
		heap, start = "-start Heap ", "Start "+o.Image+" now, and let it work for a minute or two."
	}
	quoted := make([]string, len(k.files))
	for i, pattern := range k.files {
		quoted[i] = "'" + pattern + "'"
	}
	return strings.NewReplacer("@TITLE@", k.Title, "@IMAGE@", o.Image, "@PROJECT_NAME@", o.Project,
		"@SCENARIO_NAME@", o.Scenario, "@EVIDENCE@", k.Name, "@SNAPSHOTS@", strconv.Itoa(o.Snapshots), "@SERVER@", o.Server,
		// A batch file reads %% as a percent sign.
		"@PROJECT@", strings.ReplaceAll(escape(o.Project), "%", "%%"),
		"@SCENARIO@", strings.ReplaceAll(escape(o.Scenario), "%", "%%"),
		"@PS_PROJECT@", escape(o.Project), "@PS_SCENARIO@", escape(o.Scenario),
		"@FILES@", strings.Join(k.files, " "), "@PS_FILES@", strings.Join(quoted, ", "),
		"@WPR_HEAP@", heap, "@WPR_START@", start).Replace(text)
}

// readme is what a person reads first.
func (o *Order) readme(k *Kind) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("%s of %s, project %s, scenario %s", k.Title, o.Image, o.Project, o.Scenario)
	line("")
	line("Needs: %s. Shows %s.", k.Needs, k.Decides)
	line("Copy this folder to the Windows machine. Run the files as administrator, in this order:")
	line("")
	line("  1-enable.cmd          turns recording on and notes what was there before")
	if k.New {
		line("                        A process that runs already is not recorded: start %s afterwards.", o.Image)
	}
	line("  2-capture.cmd [PID]   takes the evidence; the PID where several processes run %s", o.Image)
	line("  3-clean-up.cmd        restores the settings as they were")
	line("  4-upload.cmd BUILD    uploads to %s", o.Server)
	line("")
	line("Or in PowerShell: kit.ps1 Enable, Capture, CleanUp, Upload -Build BUILD.")
	line("")
	line("Equal work between snapshots decides soonest. Set SECONDS=300 to wait for that long instead of for a key.")
	line("A service: sc queryex NAME shows its PID. An IIS pool: %%windir%%\\system32\\inetsrv\\appcmd list wp.")
	line("Tools elsewhere: set DEBUGGERS (the folder with x64 and x86), PROCDUMP, XPERF or PERFVIEW.")
	line("The token needs the scope upload alone. Let it end soon: project settings, Tokens. Put it into HEAPDRIFT_TOKEN or token.txt.")
	line("sidecar.json says which process was recorded. It is not uploaded.")
	line("Exit codes: 0 done, 2 usage, 3 a tool or the upload failed, 5 no rights or settings not restored.")
	if k.Name == "debugdiag" {
		line("")
		line("In DebugDiag Collection: Tools, Processes; right-click the process, Monitor for Leaks; work for 15 minutes or more;")
		line("right-click, Create Full Userdump, five times with the same work between. Copy the dumps into this folder.")
	}
	return b.String()
}
