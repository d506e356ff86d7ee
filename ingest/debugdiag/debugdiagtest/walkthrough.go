package debugdiagtest

import (
	"fmt"
	"strings"
	"time"
)

// Walkthrough is a report of a web service whose memory grows. A driver of a third party holds 148 MB that its caller
// has not freed. The .NET runtime holds 8.75 MB, which is no leak. The stack is one that DebugDiag has printed.
func Walkthrough() *Report {
	const name = "w3wp.exe__PID__3812__Date__02_21_2008__Time_04_17_33PM__203__Memory Dump.dmp"
	stack := frames(walkthroughStack)
	other := append(append([]Frame{}, stack[:3]...),
		frames("[DEFAULT] [hasThis] Boolean System.Data.Odbc.OdbcDataReader.Read()\nmscorsvr!CallDescrWorker+30")...)
	leak := Function{
		Name: "3rdparty!IFMX_IsInTransaction+5671", Address: 0x10035671, Type: "C/C++ runtime allocation(s)",
		Manager: "C/C++ runtime memory manager", Heap: 0x3520000,
		Count: 37_888, Bytes: 37_888 * 4_096, Percent: 98, Sizes: []SizeCount{{4_096, 37_888}},
		Samples: []Sample{
			{Address: 0x0a3f1010, After: 47*time.Minute + 11*time.Second, Bytes: 4_096, Frames: stack},
			{Address: 0x0b3f1010, After: 26*time.Hour + 3*time.Second, Bytes: 4_096, Frames: other},
		},
	}
	runtime := Function{
		Name: "mscorsvr!EEVirtualAlloc+119", Address: 0x791d2119, Type: "Virtual memory allocation(s)",
		Manager: "Virtual memory manager",
		Count:   140, Bytes: 140 << 16, Percent: 21,
	}
	driver := Function{
		Name: "odbc32!SQLAllocHandle+a1", Address: 0x1f7d00a1, Type: "Heap allocation(s)", Manager: "Heap memory manager",
		Heap: 0x3520000, Count: 7, Bytes: 1_024, Percent: 3,
	}
	return &Report{
		Culture: English, Rule: "MemoryAnalysis",
		Conclusions: []Conclusion{{
			Group: GroupWarnings, Dump: name,
			Description: "<a href='#" + name +
				"Module268435456'><b>3rdparty.dll</b></a> is responsible for <b><font color=SaddleBrown>148 MBytes</font></b> worth of outstanding allocations. " +
				"The following are the top 2 memory consuming functions:<br><br><b>3rdparty!IFMX_IsInTransaction+5671</b>:  <b><font color=SaddleBrown>148 MBytes</font></b> worth of outstanding allocations.",
			Recommendation: "If this is unexpected, please contact the vendor of this module for further assistance with this issue.",
		}},
		Dumps: []Dump{{
			Name: name,
			Facts: [][2]string{
				{"Type of Analysis Performed", "Memory Pressure Analysis"}, {"Machine Name", "WEB01"},
				{"Operating System", "Windows Server 2003 Service Pack 2"},
				{"Number Of Processors", "4"}, {"Process ID", "3812"}, {"Process Image", `c:\windows\system32\inetsrv\w3wp.exe`},
				{"System Up-Time", "12 day(s) 03:11:09"}, {"Process Up-Time", "1 day(s) 02:31:04"},
			},
			LeakTrack: "1.2.0.52", Tracked: 26*time.Hour + 30*time.Minute,
			Modules: []Module{
				{Name: "3rdparty", Base: 0x10000000, Functions: []Function{leak},
					Facts: [][2]string{{"Image Name", `c:\informix\bin\3rdparty.dll`}, {"File Version", "2.90.0.1"},
						{"Module Size", "1.21 MBytes"}}},
				{Name: "mscorsvr", Base: 0x791b0000, Functions: []Function{runtime},
					Facts: [][2]string{{"Module Size", "2528 KBytes"}}},
				{Name: "odbc32", Base: 0x1f7d0000, Functions: []Function{driver},
					Facts: [][2]string{{"Module Size", "244 KBytes"}}},
			},
		}},
	}
}

// frames makes a stack of lines.
func frames(lines string) []Frame {
	var frames []Frame
	for line := range strings.SplitSeq(lines, "\n") {
		frames = append(frames, Frame{Name: line})
	}
	return frames
}

const walkthroughStack = `3rdparty!IFMX_IsInTransaction+5671
3rdparty!SQLEndTran+e456
odbc32!SQLFetch+160
[DEFAULT] [hasThis] Boolean System.Data.Odbc.OdbcDataReader.Read()
[DEFAULT] [hasThis] I4 System.Data.Common.DbDataAdapter.FillLoadDataRow(Class System.Data.Common.SchemaMapping)
[DEFAULT] [hasThis] Class System.Data.DataSet Company.App.Server.DAL.DAO.Informix.AbstractDAO.Fill(String,String,I4)
[DEFAULT] [hasThis] SZArray Object System.Web.Services.Protocols.LogicalMethodInfo.Invoke(Object,SZArray Object)
[DEFAULT] Void System.Web.HttpRuntime.ProcessRequest(Class System.Web.HttpWorkerRequest)
mscorsvr!ComToComPlusWorker+1e0
aspnet_isapi!HttpCompletion::ProcessRequestInManagedCode+17e
ntdll!ZwContinue+c
kernel32!BaseThreadStart+34`

// Large is a report of as many modules, each with as many functions and samples, for benchmarks and limits.
func Large(modules, functions int) *Report {
	d := Dump{Name: "big.exe__PID__77__Date__12_31_2023__Time_12_00_00AM__1__Leak.dmp", LeakTrack: "2.3.0.37",
		Tracked: 36 * time.Hour}
	for i := range modules {
		m := Module{Name: fmt.Sprintf("mod%d", i), Base: 0x7ff600000000 + uint64(i)<<24}
		for j := range functions {
			f := Function{
				Name: fmt.Sprintf("mod%d!Space::Class<int>::Function%d+%x", i, j, j*16+5), Address: m.Base + uint64(j*64),
				Type: "Heap allocation(s)", Manager: "Heap memory manager",
				Heap: 0x260000, Count: int64(1 + (i*7+j*13)%5000), Percent: j % 101,
			}
			f.Bytes = f.Count * int64(16+j%900)
			for k := range 3 {
				s := Sample{Address: uint64(0x10000 * (k + 1)), After: time.Duration(k) * time.Hour, Bytes: int64(16 + j%900),
					Frames: []Frame{{Name: "ntdll!RtlAllocateHeap+7c"}, {Name: f.Name, Source: `d:\src\mod\file.cpp @ 42`}}}
				for l := range 24 {
					s.Frames = append(s.Frames, Frame{Name: fmt.Sprintf("mod%d!Caller%d::Run+%x", (i+l)%modules, (j+k)%40, 17+l)})
				}
				f.Samples = append(f.Samples, s)
			}
			m.Functions = append(m.Functions, f)
		}
		d.Modules = append(d.Modules, m)
	}
	return &Report{Culture: English, Rule: "MemoryAnalysis", Dumps: []Dump{d}}
}
