package ui

import (
	"cmp"
	"strconv"
)

// A failureWord is what a code of an error means to the reader of a page. Both sentences lack their subject, so that it
// may be one file, each of several, or the analysis.
type failureWord struct {
	isRead   bool   // the file was read to its end: what is wrong is what it holds
	file     string // what happened to a file: "has no heap events"; "" for codes that no file gets
	analysis string // what happened to the analysis; "" for codes that it does not give
	do       string // what to do next: a sentence
}

// failureWords are the codes that reading and analysing give. What another try may mend is said so; the button for it
// stands beside.
var failureWords = map[string]failureWord{
	// The file was read, and what it holds is not enough.
	"no-memory-events": {true, "has no heap events", "",
		"Record again with heap tracing for the process. If this is the kernel file of a pair, add the heap file to the same run."},
	"no-umdh-data": {true, "has no UMDH output", "", "Upload the file that umdh -f wrote."},
	"no-windbg-output": {true, "has no complete output of !heap, !address or !eeheap", "",
		"Run .logopen before the commands, let them finish, and upload that log."},
	"no-debugdiag-data": {true, "has no DebugDiag report", "",
		"Upload the .mht file that DebugDiag's analysis wrote, or the dump itself."},
	"no-page": {true, "has no report page", "",
		"Upload the .mht file that DebugDiag's analysis wrote."},
	"no-vmmap-data": {true, "has no memory regions", "",
		"Save it again in VMMap with File, Save As, as *.mmp."},
	"no-leakdiag-data": {true, "has no call stack with memory", "",
		"Log again while LeakDiag watches the process."},
	"no-appverifier-log": {true, "has no complete stop of Application Verifier", "",
		"Export the log again with appverif -export log."},
	"no-stops": {true, "has no stops: Application Verifier found no error in the process", "",
		"The file is valid. Let the process unload the module: Application Verifier reports leaks then."},
	"no-heap": {true, "is a dump without heap memory", "",
		"Make a full dump: procdump -ma, or \"Create dump file\" of Task Manager."},
	"no-heaps": {true, "is a dump in which no heap was found", "",
		"Make a full dump (procdump -ma) while the process works, not while it starts or exits."},
	"no-evidence": {true, "is an archive without evidence", "",
		"Pack the log, trace or dump itself, not the tool's folder."},

	// The file is no evidence.
	"empty-file": {false, "is empty", "",
		"Check that the tool finished, then upload the file again."},
	"unknown-format": {false, "has an unknown format", "",
		"Upload a trace, dump or log of a tool that the upload page lists."},
	"unsupported-format": {false, "has a format that heapdrift does not read", "",
		"Upload symbols on the symbols page. Pack archives as zip, 7z, gz or zst."},
	"not-etl": {false, "is not a trace, despite its name", "",
		"Stop the session, then copy the file again."},
	"not-minidump": {false, "is not a dump, despite its name", "",
		"Copy it again, or make a new dump with procdump -ma."},
	"old-user-dump": {false, "is a dump in the format that preceded minidumps", "",
		"Make a new dump with procdump -ma."},
	"kernel-dump": {false, "is a kernel dump, not a process dump", "",
		"Make a full dump of the process: procdump -ma PID."},
	"other-system": {false, "is a dump from another operating system", "",
		"Upload a dump of a Windows process."},
	"unsupported-compression": {false, "is a trace with a compression that heapdrift does not read", "",
		"Record without compression, or pack the .etl file as zip, gz or zst."},

	// The file is damaged, or the parts do not belong together.
	"truncated": {false, "is truncated", "",
		"Copy it again and compare the sizes. The disk may have been full when it was written."},
	"bad-header": {false, "has a damaged header", "", "Copy it again, or make a new dump."},
	"bad-log-header": {false, "has a truncated header", "",
		"Stop the session, then copy the trace again."},
	"bad-clock": {false, "has invalid time stamps", "", "Record the trace again."},
	"other-boot": {false, "is from another boot or clock than the run's other files", "",
		"Give each recording a run of its own."},
	"damaged-archive": {false, "is a damaged archive", "", "Pack it again, or upload the file as it is."},
	"archive-bomb": {false, "unpacks to far more than its size", "",
		"Upload the file itself, or pack it as gz or zst."},

	// The file is larger than the limit.
	"too-many-buffers": {false, "has more buffers than heapdrift reads of one trace", "", "Record for a shorter time."},
	"too-many-blocks": {false, "has more held blocks than heapdrift follows", "",
		"Record for a shorter time, or only one process."},

	// The server failed, or its limits did: another try may end better.
	"internal": {false, "could not be read: internal error", "ended with an internal error",
		"Try again. If it fails again, send the run's number to your administrator: the server's log has the cause."},
	"read-failed": {false, "could not be fetched from the server's storage", "",
		"Try again. If it fails again, send the run's number to your administrator: the server's log has the cause."},
	"spool-disk": {false, "could not be read: the server's temporary disk failed or is full", "",
		"Ask your administrator to free disk space, then try again."},
	"worker-lost": {false, "could not be read: the worker was lost at each attempt",
		"ended with its worker at each attempt",
		"Ask your administrator whether workers have enough memory, then try again."},
	"memory-exceeded": {false, "needs more memory to read than a job may use", "needs more memory than a job may use",
		"Record for a shorter time, or ask your administrator for more memory and try again."},
	"reader-crashed": {false, "could not be read: its reader crashed", "crashed",
		"Try again. If it fails again, report it with the output of heapdrift etl census or heapdrift analyze."},
	"reader-stuck": {false, "could not be read: its reader made no progress", "made no progress and was ended",
		"Try again. If it fails again, report it."},
	"reader-expensive": {false, "takes far longer to read than files of its size",
		"takes far longer than for evidence of this size", "Try again, or record for a shorter time."},
	"blob-missing": {false, "was deleted from the server", "lacks a file that was deleted from the server",
		"Upload it again."},
	"cancelled": {false, "was not read: cancelled", "was cancelled", "Try again to read it."},

	// What was read cannot be analysed as asked.
	"no-such-process": {false, "", "did not find the selected process",
		"Select another process of the run, or upload evidence of this one."},
	"bad-rules": {false, "", "cannot use the project's rules",
		"Correct the rules on the rules page: this starts a new analysis of the run."},
	"read-again": {false, "", "waits for the new reading of the trace", "Wait for the next report."},
}

// wordOfFailure is the word of a code; one that says little of a code that is not known.
func wordOfFailure(code string) failureWord {
	w := failureWords[code]
	w.file, w.analysis = cmp.Or(w.file, "could not be read"), cmp.Or(w.analysis, "did not produce a report")
	return w
}

// FileFailure says why a file gave no capture: "app.etl has no heap events".
func FileFailure(name, code string) string { return name + " " + wordOfFailure(code).file }

// FilesFailure says why n files of a run gave no capture; code is the code of all of them, "" where they differ.
func FilesFailure(n int, code string) string {
	switch {
	case n == 1:
		return FileFailure("The file", code)
	case code == "":
		return strconv.Itoa(n) + " files could not be used, for different reasons"
	}
	return FileFailure("Each of "+strconv.Itoa(n)+" files", code)
}

// AnalysisFailure says why an analysis failed; otherwise is the text for codes without one.
func AnalysisFailure(code, otherwise string) string {
	if failureWords[code].analysis == "" {
		return otherwise
	}
	return "The analysis " + failureWords[code].analysis
}

// AfterFailure says what to do after a failure with this code; "" where only the message says it.
func AfterFailure(code string) string { return failureWords[code].do }

// IsFileRead reports whether a file with this failure was read to its end.
func IsFileRead(code string) bool { return failureWords[code].isRead }
