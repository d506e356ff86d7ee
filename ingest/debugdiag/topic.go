package debugdiag

import "strings"

// A topic is what a section of a report is about.
type topic uint8

const (
	topicNone topic = iota
	topicErrors
	topicWarnings
	topicInformation
	topicRules
	topicDump // the facts of the process
	topicSpace
	topicSpaceTotals
	topicSpaceUses
	topicVirtual
	topicImages
	topicThreads
	topicHeaps
	topicHeapTotals
	topicHeapReserved
	topicHeapCommitted
	topicHeapDetails
	topicLeaks
	topicLeakTotals
	topicLeakMemory
	topicLeakHandles
)

// sections maps the beginning of a section's id, before the UID of the section around it, to its topic.
var sections = map[string]topic{
	"erroranalysissummarysection": topicErrors, "errorsanalysissummarysection": topicErrors,
	"warninganalysissummarysection": topicWarnings, "warningsanalysissummarysection": topicWarnings,
	"informationsanalysissummarysection": topicInformation, "informationanalysissummarysection": topicInformation,
	"notificationsanalysissummarysection": topicInformation, "notificationanalysissummarysection": topicInformation,
	"table_summary": topicRules,
	"vmreport":      topicSpace, "vmsummary": topicSpaceTotals, "vmdetails": topicSpaceUses, "vaddetails": topicVirtual,
	"threaddetails": topicThreads,
	"heapreport":    topicHeaps, "heapsummary": topicHeapTotals, "topreserved": topicHeapReserved,
	"topcomitted":  topicHeapCommitted,
	"topcommitted": topicHeapCommitted, "heapdetails": topicHeapDetails,
	"leakreport": topicLeaks, "allocsummary": topicLeakTotals, "modreportmem": topicLeakMemory,
	"modreporthandle": topicLeakHandles,
}

// titles knows them by title, for sections whose ids are UIDs alone, and for pages that have lost them.
var titles = map[string]topic{
	"virtual memory analysis": topicSpace, "virtual memory summary": topicSpaceTotals,
	"virtual memory details":     topicSpaceUses,
	"virtual allocation summary": topicVirtual, "loaded module summary": topicImages, "thread summary": topicThreads,
	"heap analysis": topicHeaps, "heap analysis report": topicHeaps, "heap summary": topicHeapTotals,
	"heap details":  topicHeapDetails,
	"leak analysis": topicLeaks, "leak analysis report": topicLeaks, "outstanding allocation summary": topicLeakTotals,
	"detailed module report(memory)": topicLeakMemory, "detailed module report (memory)": topicLeakMemory,
	"detailed module report(handles)": topicLeakHandles, "detailed module report (handles)": topicLeakHandles,
}

// sectionTopic tells a section by its id: "AllocSummaryB1C1D3" is AllocSummary in B1C1D3.
func sectionTopic(id string) topic {
	for {
		digits := strings.TrimRight(id, "0123456789")
		if t, ok := sections[strings.ToLower(id)]; ok {
			return t
		}
		if len(digits) == len(id) || digits == "" || digits[len(digits)-1] < 'A' || digits[len(digits)-1] > 'Z' {
			return topicNone
		}
		id = digits[:len(digits)-1]
	}
}

// titleTopic tells a section by its title.
func titleTopic(title string) topic {
	title = strings.ToLower(strings.TrimSpace(title))
	if t, ok := titles[title]; ok {
		return t
	}
	if strings.HasPrefix(title, "top ") && strings.Contains(title, " heaps by ") {
		if strings.Contains(title, "reserved") {
			return topicHeapReserved
		}
		return topicHeapCommitted
	}
	return topicNone
}

// A ranking is what a bar graph counts, by the words of the heading above it.
type ranking uint8

const (
	rankNone ranking = iota
	rankModulesByCount
	rankModulesBySize
	rankManagersByCount
	rankManagersBySize
	rankModulesByHandles
	rankHandleTypes
	rankFunctions
	rankSizesBySize
	rankSizesByCount
	rankHeapsReserved
	rankHeapsCommitted
)

// rankings are tried in this order.
var rankings = []struct {
	words string
	ranking
}{
	{"modules by allocation count", rankModulesByCount},
	{"modules by allocation size", rankModulesBySize},
	{"modules by handle count", rankModulesByHandles},
	{"memory manager statistics by allocation count", rankManagersByCount},
	{"memory manager statistics by allocation size", rankManagersBySize},
	{"handle type statistics", rankHandleTypes},
	{"functions by ", rankFunctions},
	{"heaps by reserved", rankHeapsReserved},
	{"heaps by committed", rankHeapsCommitted},
	{"allocations by size", rankSizesBySize},
	{"allocation sizes by total size", rankSizesBySize},
	{"allocations by count", rankSizesByCount},
	{"allocation sizes by allocation count", rankSizesByCount},
}

func rankingOf(heading string) ranking {
	heading = strings.ToLower(heading)
	for _, r := range rankings {
		if strings.Contains(heading, r.words) {
			return r.ranking
		}
	}
	return rankNone
}
