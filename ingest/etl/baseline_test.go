package etl_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"heapdrift/ingest/etl"
	"heapdrift/internal/corpus"
)

// baselineNames are PerfView's names of the kinds that the tests compare. Thread rundowns and stacks are left out:
// PerfView drops those that it has taken into its own tables.
var baselineNames = map[etl.Kind]string{
	etl.KindImageLoad: "Windows Kernel/Image/Load", etl.KindImageUnload: "Windows Kernel/Image/Unload",
	etl.KindImageDCStart: "Windows Kernel/Image/DCStart", etl.KindImageDCEnd: "Windows Kernel/Image/DCStop",
	etl.KindImageID: "KernelTraceControl/ImageID", etl.KindImageRSDS: "KernelTraceControl/ImageID/DbgID_RSDS",
	etl.KindProcessStart: "Windows Kernel/Process/Start", etl.KindProcessEnd: "Windows Kernel/Process/Stop",
	etl.KindProcessDCStart: "Windows Kernel/Process/DCStart", etl.KindProcessDCEnd: "Windows Kernel/Process/DCStop",
	etl.KindProcessDefunct: "Windows Kernel/Process/Defunct",
	etl.KindThreadStart:    "Windows Kernel/Thread/Start", etl.KindThreadEnd: "Windows Kernel/Thread/Stop",
	etl.KindSystemPaths:   "Windows Kernel/SysConfig/SystemPaths",
	etl.KindVolumeMapping: "Windows Kernel/SysConfig/VolumeMapping",
}

var (
	baselineCount = regexp.MustCompile(`^COUNT ([^:]+):(\d+)`)
	baselineEvent = regexp.MustCompile(`^EVENT ([\d,.-]+): (.+?) PID=.*?ProceNum=(\d+); DataLen=(\d+); (.*)`)
	imageFields   = regexp.MustCompile(`^ImageBase=0x([0-9a-f]+); ImageSize=([\d,]+); ImageChecksum=([\d,]+); `)
	processFields = regexp.MustCompile(`^ProcessID=([\d,]+); ParentID=([\d,]+); ImageFileName=([^;]*); `)
)

// TestBaselines compares counts, and the time, length and fields of the images and processes that are sampled there,
// with what PerfView made of the same traces on Windows.
func TestBaselines(t *testing.T) {
	for _, name := range []string{"net.4.5.2.x64", "net.4.5.2.x86", "net.4.5.x86.OLD"} {
		t.Run(name, func(t *testing.T) {
			counts, samples := baseline(t, name)
			got, lines := map[string]int64{}, map[string]int{}
			times := map[string]bool{}
			for _, line := range samples {
				at, _, _ := strings.Cut(line, " ")
				times[at] = true
			}
			trace := open(t, realFile(t, "perfview/"+name+".etl.zip", ".etl"))
			if err := trace.Events(t.Context(), func(e *etl.Event) error {
				known := baselineNames[e.Kind]
				if known == "" {
					return nil
				}
				got[known]++
				for _, us := range []int64{e.Time / 1000, e.Time/1000 + 1} { // rounded down or up
					at := fmt.Sprintf("%d.%03d", us/1000, us%1000)
					if !times[at] {
						continue
					}
					place := fmt.Sprintf("%s %s cpu %d length %d ", at, known, e.CPU, len(e.Payload))
					if im, ok := e.Image(); ok && strings.Contains(known, "Kernel/Image/") {
						lines[place+fmt.Sprintf("%08x %d %d", im.Base, im.Size, im.CheckSum)]++
					}
					if p, ok := e.Process(); ok && strings.Contains(known, "/Process/") {
						lines[place+fmt.Sprintf("%d %d %s", p.PID, p.Parent, p.Image)]++
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			for _, known := range baselineNames {
				if got[known] != counts[known] {
					t.Errorf("%s: %d, want %d", known, got[known], counts[known])
				}
			}
			if len(samples) < 30 {
				t.Errorf("%d samples", len(samples))
			}
			for _, line := range samples {
				if lines[line] == 0 {
					t.Errorf("no event is %s", line)
				}
			}
		})
	}
}

// baseline reads the counts of PerfView's baseline, and the images and processes that it shows.
func baseline(t *testing.T, name string) (counts map[string]int64, samples []string) {
	t.Helper()
	counts = map[string]int64{}
	number := func(s string) int64 {
		n, err := strconv.ParseInt(strings.ReplaceAll(s, ",", ""), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for line := range strings.Lines(string(readFile(t, corpus.Path(t, "etl", "perfview", name+".baseline.txt")))) {
		if m := baselineCount.FindStringSubmatch(line); m != nil {
			counts[m[1]] = number(m[2])
		}
		m := baselineEvent.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		place := fmt.Sprintf("%s %s cpu %s length %s ", strings.ReplaceAll(m[1], ",", ""), m[2], m[3], m[4])
		if f := imageFields.FindStringSubmatch(m[5]); f != nil && baselineNamed(m[2]) {
			samples = append(samples, place+fmt.Sprintf("%s %d %d", f[1], number(f[2]), number(f[3])))
		}
		if f := processFields.FindStringSubmatch(m[5]); f != nil && strings.Contains(m[2], "/Process/") &&
			baselineNamed(m[2]) {
			samples = append(samples, place+fmt.Sprintf("%d %d %s", number(f[1]), number(f[2]), f[3]))
		}
	}
	return counts, samples
}

func baselineNamed(name string) bool {
	for _, known := range baselineNames {
		if known == name {
			return true
		}
	}
	return false
}
