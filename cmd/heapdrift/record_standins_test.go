package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/internal/record"
	"heapdrift/internal/testwine"
)

// targetProgram leaks ten times a second. With arguments it ends after so many milliseconds, with an exit code.
const targetProgram = `#include <windows.h>
#include <stdlib.h>
int main(int argc, char **argv) {
	DWORD end = argc > 1 ? GetTickCount() + atoi(argv[1]) : 0;
	while (!end || (int)(GetTickCount() - end) < 0) {
		HeapAlloc(GetProcessHeap(), 0, 120);
		Sleep(100);
	}
	return argc > 2 ? atoi(argv[2]) : 0;
}`

// eventProgram sets an event that exists. As a holder it makes one that stays set until somebody resets it, and waits.
const eventProgram = `#include <windows.h>
#include <stdio.h>
int wmain(int argc, wchar_t **argv) {
	HANDLE event;
	if (!wcscmp(argv[2], L"hold")) {
		event = CreateEventW(0, TRUE, FALSE, argv[1]);
		puts("there");
		fflush(stdout);
		getchar();
		return event ? 0 : 2;
	}
	event = OpenEventW(EVENT_MODIFY_STATE, FALSE, argv[1]);
	return event && SetEvent(event) ? 0 : 3;
}`

// limitedProgram runs a program as a user whom Windows has not asked for the rights of an administrator.
const limitedProgram = `#include <windows.h>
int wmain(int argc, wchar_t **argv) {
	HANDLE token, primary;
	TOKEN_LINKED_TOKEN linked;
	STARTUPINFOW start = {sizeof start};
	PROCESS_INFORMATION process;
	DWORD n, code;
	wchar_t *line = wcsstr(GetCommandLineW(), L"limited.exe");
	for (line += 11; *line == L'"' || *line == L' '; line++) {}
	if (!OpenProcessToken(GetCurrentProcess(), TOKEN_ALL_ACCESS, &token) ||
		!GetTokenInformation(token, TokenLinkedToken, &linked, sizeof linked, &n) ||
		!DuplicateTokenEx(linked.LinkedToken, TOKEN_ALL_ACCESS, 0, SecurityImpersonation, TokenPrimary, &primary))
		return 90;
	start.dwFlags = STARTF_USESTDHANDLES;
	start.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
	start.hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE);
	start.hStdError = GetStdHandle(STD_ERROR_HANDLE);
	if (!CreateProcessAsUserW(primary, 0, line, 0, 0, TRUE, 0, 0, 0, &start, &process)) return 91;
	WaitForSingleObject(process.hProcess, INFINITE);
	GetExitCodeProcess(process.hProcess, &code);
	return code;
}`

// standIn is umdh.exe and wpr.exe: it notes how it is called and with which settings of app.exe, and writes the file
// that it is asked for. Its logs of UMDH have 1,000 blocks more at each call.
const standIn = `#include <windows.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
static void setting(FILE *calls, const char *name) {
	DWORD value = 0, size = sizeof value;
	RegGetValueA(HKEY_LOCAL_MACHINE, "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Image File Execution Options\\app.exe",
		name, RRF_RT_REG_DWORD, NULL, &value, &size);
	fprintf(calls, " %s=%lx", name, value);
}
static void note(FILE *calls, const wchar_t *text) {
	char line[4096];
	WideCharToMultiByte(CP_UTF8, 0, text, -1, line, sizeof line, NULL, NULL);
	fprintf(calls, "%s", line);
}
int wmain(int argc, wchar_t **argv) {
	char line[8192];
	int i, block, count = 0, pid = 0, trace = 0;
	const wchar_t *path = NULL, *name = wcsrchr(argv[0], L'\\');
	FILE *calls = _wfopen(_wgetenv(L"STANDIN_CALLS"), L"a+"), *out;
	rewind(calls);
	while (fgets(line, sizeof line, calls))
		if (!strncmp(line, "umdh", 4)) count++;
	fseek(calls, 0, SEEK_END);
	note(calls, name ? name + 1 : argv[0]);
	for (i = 1; i < argc; i++) {
		fputc(' ', calls);
		note(calls, argv[i]);
		if (!wcsncmp(argv[i], L"-p:", 3)) pid = _wtoi(argv[i] + 3);
		if (!wcsncmp(argv[i], L"-f:", 3)) path = argv[i] + 3;
		if (!wcscmp(argv[i], L"-stop")) { path = argv[i + 1]; trace = 1; }
	}
	setting(calls, "GlobalFlag");
	setting(calls, "TracingFlags");
	fprintf(calls, "\n");
	fclose(calls);
	if (!path) return 0;
	if (!(out = _wfopen(path, L"w"))) return 5;
	if (trace) {
		fprintf(out, "no trace");
		return fclose(out);
	}
	fprintf(out, "// UMDH: version 10.0.19041.1: Logtime 2025-03-04 12:%02d - Machine=LAB - PID=%d\n"
		"// Loaded modules:\n//     Base Size Module\n//                  400000    10000 C:\\app.exe\n"
		"// Process modules enumerated.\n"
		"*- - - - - - - - - - Start of data for heap @ 3F0000 - - - - - - - - - -\n"
		"*- - - - - - - - - - Heap 3F0000 Hogs - - - - - - - - - -\n", 10 + count, pid);
	for (block = 0; block < 1000 * (count + 1); block++)
		fprintf(out, "78 bytes + 10 at %X by BackTraceA1\n\t401000\n\t402000\n\n", 0x3F0880 + 0x90 * block);
	fprintf(out, "*- - - - - - - - - - End of data for heap @ 3F0000 - - - - - - - - - -\n");
	return fclose(out);
}`

// A recordingClient is the client under Wine, with programs to record and to record by.
type recordingClient struct {
	*windowsClient
	calls string // the file where the stand-ins note their calls
}

// newRecordingClient puts a program to record beside the client, and the stand-ins where the Windows Kits have theirs.
func newRecordingClient(w *windowsClient) *recordingClient {
	w.Helper()
	c := &recordingClient{w, filepath.Join(w.dir, "calls.txt")}
	testwine.Compile(w, targetProgram, filepath.Join(w.dir, "app.exe"))
	kits := filepath.Join(w.wine.Drive(), "Program Files", "Windows Kits", "10")
	for _, path := range []string{"Debuggers/x64/umdh.exe", "Windows Performance Toolkit/wpr.exe"} {
		path = filepath.Join(kits, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			w.Fatal(err)
		}
		testwine.Compile(w, standIn, path, "-municode", "-ladvapi32")
	}
	w.Setenv("STANDIN_CALLS", `Z:`+strings.ReplaceAll(c.calls, "/", `\`))
	return c
}

// in is the same client for a subtest, whose calls begin anew.
func (c *recordingClient) in(t *testing.T) *recordingClient {
	t.Helper()
	if err := os.Remove(c.calls); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return &recordingClient{&windowsClient{t, c.wine, c.program, c.dir}, c.calls}
}

// called are the calls of the stand-ins, without the folder of the recording.
func (c *recordingClient) called() []string {
	c.Helper()
	text, err := os.ReadFile(c.calls)
	if err != nil {
		c.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

// settings are those of a program in the registry, as reg prints them; "" for none.
func (c *recordingClient) settings(image string) string {
	c.Helper()
	const root = `HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Image File Execution Options\`
	out, _, code := c.finish(c.wine.Command(c.Context(), c.dir, "reg", "query", root+image))
	if code != 0 {
		return ""
	}
	var values []string
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); len(fields) == 3 {
			values = append(values, strings.Join(fields, " "))
		}
	}
	return strings.Join(values, "; ")
}

// undoFiles are what recordings have left to restore.
func (c *recordingClient) undoFiles() []string {
	c.Helper()
	files, err := filepath.Glob(filepath.Join(c.wine.Drive(), "ProgramData", "heapdrift", "undo", "*"))
	if err != nil {
		c.Fatal(err)
	}
	return files
}

// untouched checks that Windows is as it was.
func (c *recordingClient) untouched(image, settings string) {
	c.Helper()
	if got := c.settings(image); got != settings {
		c.Errorf("settings of %s after the recording: %q, before %q", image, got, settings)
	}
	if left := c.undoFiles(); len(left) > 0 {
		c.Errorf("files left: %q", left)
	}
}

// sidecar is that of a recording in a folder beside the client.
func (c *recordingClient) sidecar(folder string) *record.Sidecar {
	c.Helper()
	s, err := record.ReadSidecar(filepath.Join(c.dir, folder))
	if err != nil {
		c.Fatal(err)
	}
	return s
}
