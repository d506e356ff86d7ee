package collect

import (
	"context"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"heapdrift/internal/record/flags"
)

const wprName = "wpr.exe"

// newTrace records a trace with Microsoft's wpr.exe, which Windows has since version 10.
func newTrace(t *Tools) *Collector {
	run := func(ctx context.Context, args ...string) (string, error) {
		program, err := t.Find(wprName, 0)
		if err != nil {
			return "", err
		}
		return t.Run(ctx, program, args...)
	}
	return &Collector{Kind: Trace, Extension: ".etl", Want: flags.Want{HeapTracing: true}, Elevated: true,
		Needs: func(int) error {
			_, err := t.Find(wprName, 0)
			return err
		},
		Begin: func(ctx context.Context, dir string, pid uint32) error {
			profile := filepath.Join(dir, profileFile)
			if err := os.WriteFile(profile, traceProfile(pid), 0o644); err != nil {
				return fmt.Errorf("trace: %w", err)
			}
			out, err := run(ctx, "-start", profile+"!"+profileName, "-filemode", "-recordtempto", dir)
			if err != nil {
				return fmt.Errorf("wpr -start: %w: %s; if another recording runs, end it by wpr -cancel", err, lastLine(out))
			}
			return nil
		},
		End: func(ctx context.Context, path string) (Cost, error) {
			began := time.Now()
			if out, err := run(ctx, "-stop", path); err != nil {
				return Cost{}, fmt.Errorf("wpr -stop: %w: %s; wpr -cancel ends the recording without its file", err, lastLine(out))
			}
			info, err := os.Stat(path)
			if err != nil {
				return Cost{}, fmt.Errorf("wpr ended well and wrote no file: %w", err)
			}
			return Cost{Took: time.Since(began), Bytes: info.Size()}, nil
		},
		Costs: "every allocation is an event: a trace grows by some 100 bytes for each, and the process is slower"}
}

// The profile that wpr.exe records by.
const (
	profileFile = "heapdrift.wprp"
	profileName = "Heapdrift"
)

// traceProfile records heap events of the processes whose settings ask for it, or of one process, and VirtualAlloc with
// its stacks. Nothing else is recorded: a general profile costs several times as much.
func traceProfile(pid uint32) []byte {
	process := ""
	if pid != 0 {
		process = fmt.Sprintf("<HeapProcessIds Operation=%q><HeapProcessId Value=\"%d\"/></HeapProcessIds>", "Set", pid)
	}
	text := strings.ReplaceAll(profileText, "PROCESS", process)
	return []byte(xml.Header + text)
}

// profileText follows the schema of recording profiles (WPRControlProfiles.xsd, "Authoring Recording Profiles").
// Buffers are in KB. ImageId in the merge is what PDBs are found by.
const profileText = `<WindowsPerformanceRecorder Version="1.0" Author="heapdrift">
  <Profiles>
    <SystemCollector Id="HeapdriftSystemCollector" Name="NT Kernel Logger">
      <BufferSize Value="1024"/>
      <Buffers Value="128"/>
    </SystemCollector>
    <HeapEventCollector Id="HeapdriftHeapCollector" Name="Heapdrift Heap Logger">
      <BufferSize Value="1024"/>
      <Buffers Value="256"/>
    </HeapEventCollector>
    <SystemProvider Id="HeapdriftSystemProvider">
      <Keywords>
        <Keyword Value="ProcessThread"/>
        <Keyword Value="Loader"/>
        <Keyword Value="VirtualAllocation"/>
      </Keywords>
      <Stacks>
        <Stack Value="VirtualAllocation"/>
        <Stack Value="VirtualFree"/>
      </Stacks>
    </SystemProvider>
    <HeapEventProvider Id="HeapdriftHeapProvider">PROCESS</HeapEventProvider>
    <Profile Id="Heapdrift.Verbose.File" Name="Heapdrift" Description="Heaps of one program"
        DetailLevel="Verbose" LoggingMode="File">
      <Collectors>
        <SystemCollectorId Value="HeapdriftSystemCollector">
          <SystemProviderId Value="HeapdriftSystemProvider"/>
        </SystemCollectorId>
        <HeapEventCollectorId Value="HeapdriftHeapCollector">
          <HeapEventProviders>
            <HeapEventProviderId Value="HeapdriftHeapProvider"/>
          </HeapEventProviders>
        </HeapEventCollectorId>
      </Collectors>
      <TraceMergeProperties>
        <TraceMergeProperty Id="HeapdriftMerge" Name="HeapdriftMerge">
          <DeletePreMergedTraceFiles Value="true"/>
          <CustomEvents>
            <CustomEvent Value="ImageId"/>
            <CustomEvent Value="BuildInfo"/>
            <CustomEvent Value="VolumeMapping"/>
            <CustomEvent Value="EventMetadata"/>
          </CustomEvents>
        </TraceMergeProperty>
      </TraceMergeProperties>
    </Profile>
  </Profiles>
</WindowsPerformanceRecorder>
`
