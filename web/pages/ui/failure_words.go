package ui

import (
	"cmp"
	"strconv"
)

// A failureWord is what a code of an error means to the reader of a page. Both sentences lack their subject, so that it
// may be one file, each of several, or the analysis.
type failureWord struct {
	isRead   bool   // the file was read to its end: what is wrong is what it holds
	file     string // what happened to a file: "was read; it holds no heap events"; "" for codes that no file gets
	analysis string // what happened to the analysis; "" for codes that it does not give
	do       string // what to do next: a sentence
}

// failureWords are the codes that reading and analysing give. What another try may mend is said so; the button for it
// stands beside.
var failureWords = map[string]failureWord{
	// The file was read, and what it holds is not enough.
	"no-memory-events": {true, "was read; it holds no heap events", "",
		"Record again with heap tracing for the process. Where this is the kernel half of a pair, add the other file to the same run."},
	"no-umdh-data": {true, "was read; it holds nothing that UMDH writes", "", "Upload the file that umdh -f wrote."},
	"no-windbg-output": {true, "was read; it holds no whole output of !heap, !address or !eeheap", "",
		"Open a log with .logopen before the commands, let them end, and upload that log."},
	"no-debugdiag-data": {true, "was read; it holds nothing that DebugDiag reports", "",
		"Upload the .mht file that the analysis of DebugDiag wrote, or the dump itself."},
	"no-page": {true, "was read; it holds no page of a report", "",
		"Upload the .mht file that the analysis of DebugDiag wrote."},
	"no-vmmap-data": {true, "was read; it holds no region of memory", "",
		"Save it again in VMMap with File, Save As, as *.mmp."},
	"no-appverifier-log": {true, "was read; it holds no whole stop of Application Verifier", "",
		"Export the log again with appverif -export log."},
	"no-stops": {true, "was read; Application Verifier found nothing while the process ran", "",
		"Nothing is wrong with it. Leaks are found when a module is unloaded: let the process come that far."},
	"no-heap": {true, "was read; it is a dump without the memory of heaps", "",
		"Make a full dump: procdump -ma, or \"Create dump file\" of Task Manager."},
	"no-heaps": {true, "was read; no heap was found in it", "",
		"Make a full dump (procdump -ma) while the process runs, not while it starts or ends."},
	"no-evidence": {true, "was unpacked; no file in it is evidence", "",
		"Pack the log, the trace or the dump itself, not the folder of a tool."},

	// The file is no evidence.
	"empty-file": {false, "is empty", "",
		"See whether the tool that made it ran to its end, and upload it again."},
	"unknown-format": {false, "is not evidence that heapdrift knows", "",
		"Upload the trace, the dump or the log of a tool that the upload page names."},
	"unsupported-format": {false, "is of a kind that heapdrift does not read", "",
		"Symbols go to the page of symbols; archives are read as zip, 7z, gz or zst."},
	"not-etl": {false, "is named as a trace and is none", "",
		"Copy it again after the session was stopped."},
	"not-minidump": {false, "is named as a dump and is none", "",
		"Copy it again, or make the dump anew with procdump -ma."},
	"old-user-dump": {false, "is a dump in the format before minidumps", "",
		"Make it with a tool of today: procdump -ma."},
	"kernel-dump": {false, "is a dump of the kernel, not of a process", "",
		"Make a full dump of the process: procdump -ma PID."},
	"other-system": {false, "is a dump of another system than Windows", "",
		"heapdrift analyses processes of Windows."},
	"unsupported-compression": {false, "is a trace compressed in a way that is not read", "",
		"Record without compression, or pack the .etl file as zip, gz or zst."},

	// The file is damaged, or the parts do not belong together.
	"truncated": {false, "ends before what it says it holds", "",
		"Copy it again and compare the sizes; a disk may have been full while it was made."},
	"bad-header": {false, "has a header that leads nowhere", "", "Copy it again, or make the dump anew."},
	"bad-log-header": {false, "has a header that is cut short", "",
		"Copy the trace again after the session was stopped."},
	"bad-clock": {false, "has time stamps that cannot be turned into time", "", "Record the trace again."},
	"other-boot": {false, "is of another boot or clock than the files beside it", "",
		"Give each recording a run of its own."},
	"damaged-archive": {false, "is an archive that is damaged", "", "Pack it again, or upload the file as it is."},
	"archive-bomb": {false, "unpacks to far more than it holds", "",
		"Upload the file itself, or pack it as gz or zst."},

	// The file is larger than the limit.
	"too-many-buffers": {false, "has more buffers than are read of one trace", "", "Record a shorter time."},
	"too-many-blocks": {false, "has more living blocks than are followed", "",
		"Record a shorter time, or one process alone."},

	// The server failed, or its limits did: another try may end better.
	"internal": {false, "could not be read because the server failed", "ended because the server failed",
		"Try again. If that fails too, the log of the server says why."},
	"read-failed": {false, "could not be fetched from where the server keeps it", "",
		"Try again. If that fails too, the log of the server says why."},
	"spool-disk": {false, "could not be read because the server's temporary disk failed or is full", "",
		"Ask who runs the server to make room, then try again."},
	"worker-lost": {false, "could not be read: the worker was lost at every try",
		"ended with its worker at every try",
		"It may need more memory than a worker has. Ask who runs the server, then try again."},
	"memory-exceeded": {false, "needs more memory to read than a job may take", "needs more memory than a job may take",
		"Record a shorter time, or ask who runs the server for more memory and try again."},
	"reader-crashed": {false, "could not be read: its reader crashed", "crashed",
		"Try again. If that fails too, report it with what heapdrift etl census or heapdrift analyze says of the file."},
	"reader-stuck": {false, "could not be read: its reader stood still", "stood still and was ended",
		"Try again. If that fails too, report it."},
	"reader-expensive": {false, "takes far more time to read than files of its size do",
		"takes far more time than evidence of this size does", "Try again, or record a shorter time."},
	"blob-missing": {false, "is not on the server any more", "lacks a file that is not on the server any more",
		"Upload it again."},
	"cancelled": {false, "was not read: somebody cancelled it", "was cancelled", "Try again when it is wanted."},

	// What was read cannot be analysed as asked.
	"no-such-process": {false, "", "does not find the process that was chosen",
		"Choose another process of the run, or upload evidence that shows this one."},
	"bad-rules": {false, "", "cannot use the project's rules",
		"Mend the rules on their page; the run is analysed again then."},
	"read-again": {false, "", "waits for the trace that was read again", "Wait for the next report."},
}

// wordOfFailure is the word of a code; one that says little of a code that is not known.
func wordOfFailure(code string) failureWord {
	w := failureWords[code]
	w.file, w.analysis = cmp.Or(w.file, "could not be read"), cmp.Or(w.analysis, "gave no report")
	return w
}

// FileFailure says what happened to a file that gave nothing: "app.etl was read; it holds no heap events".
func FileFailure(name, code string) string { return name + " " + wordOfFailure(code).file }

// FilesFailure is the same of the files of a run that gave nothing; code is that of all of them, "" where they differ.
func FilesFailure(n int, code string) string {
	switch {
	case n == 1:
		return FileFailure("The file", code)
	case code == "":
		return strconv.Itoa(n) + " files could not be used, not all for one reason"
	}
	return FileFailure("Each of "+strconv.Itoa(n)+" files", code)
}

// AnalysisFailure says what happened to an analysis without a result. Where the code says nothing, otherwise stands.
func AnalysisFailure(code, otherwise string) string {
	if failureWords[code].analysis == "" {
		return otherwise
	}
	return "The analysis " + failureWords[code].analysis
}

// AfterFailure says what to do next; "" where only the message knows.
func AfterFailure(code string) string { return failureWords[code].do }

// IsFileRead reports whether a file with this failure was read to its end.
func IsFileRead(code string) bool { return failureWords[code].isRead }
