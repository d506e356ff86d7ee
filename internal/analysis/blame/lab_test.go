package blame_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/corpus"
	"heapdrift/internal/needs"
)

// labBlame is the function to blame for each role of the lab's programs, as their sources in lab/src show it.
var labBlame = map[string]string{
	"leak_samples":         "batterymeter!BatteryMeter::SampleBuffer<T>::MakeBatch",
	"leak_status_text":     "sensors!Sensors::<anonymous>::DuplicateString",
	"bounded_cache":        "batterymeter!BatteryMeter::ReadingCache<T>::operator[]",
	"startup_config":       "batterymeter!BatteryMeter::<anonymous>::ParseLine",
	"startup_private_heap": "batterymeter!InitPrivateHeap", "churn_paint": "batterymeter!BatteryMeter::Canvas::operator++",
	"churn_reader": "sensors!Sensors::BatteryStatusReader::operator++",
	"log_first":    "batterymeter!BatteryMeter::Canvas::operator<<",
	"log_resize":   "batterymeter!BatteryMeter::Canvas::operator<<", "lazy_init": "batterymeter!LoadSkin",
	"va_main_first": "memorytestapp!main", "va_main_middle": "memorytestapp!main",
	"va_spikes":   "memorytestapp!ManipulateTemporaryBuffer",
	"heap_growth": "memorytestapp!InnerLoopOperation", "startup_tables": "memorytestapp!MakeTable",
	"va_dependencies":  "kernelbase!<unknown>",
	"parser_recursion": "condor_schedd!ParseFactor", "leak_shadow_records": "condor_schedd!HashTable<T>::insert",
	"startup":          "condor_schedd!ShadowManager::Init",
	"template_reserve": "bookstore!bookstore::Inventory<T>::Reserve",
	"audit_line":       "bookstore!bookstore::AuditLog::operator<<",
	"bounded_slots":    "bookstore!bookstore::Inventory<T>::operator<<",
	"dll_lambda":       "catalog!catalog::Index::Rebuild::<lambda>::operator()",
	"dll_lookup_churn": "catalog!catalog::Index::Lookup", "preload": "bookstore!bookstore::<anonymous>::PreloadShelves",
}

// labShared maps roles to the role with the same function and callers, from which they differ only by their lines.
var labShared = map[string]string{"log_resize": "log_first", "va_main_middle": "va_main_first"}

type labFrame struct {
	Module, Function, File string
	RVA                    uint64                            `json:"rva"`
	Inlined                []struct{ Function, File string } `json:"inlined_here"`
}

type labRun struct {
	Name, Process string
	Modules       []struct {
		Name, Path, GUID string
		Supplied         bool `json:"pdb_supplied"`
	}
	Stacks []struct {
		Role, Kind string
		Leak       bool
		UMDH       []labFrame `json:"umdh_prefix"`
		ETL        []labFrame `json:"etl_prefix"`
		Frames     []labFrame
	}
}

// Every stack of the lab has the blame frame that its source shows, whatever recorded it. A role has one signature in
// 32 and 64 bits, in UMDH and ETL, and in every build; roles with different functions never share a signature.
func TestLab(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(corpus.Path(t, "lab") + "/*/truth.json")
	if err != nil || len(files) == 0 {
		needs.SkipWithoutCorpus(t, errors.Join(err, errors.New("it has no lab")))
	}
	byRole, roleOf, judged := map[string]string{}, map[string]string{}, 0
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var truth struct{ Runs []labRun }
		if err := json.Unmarshal(content, &truth); err != nil {
			t.Fatal(err)
		}
		for _, run := range truth.Runs {
			modules := run.modules()
			for _, s := range run.Stacks {
				for _, prefix := range [][]labFrame{s.UMDH, s.ETL} {
					judged++
					classes := classesOf(modules, append(append([]labFrame{}, prefix...), s.Frames...))
					placed := blame.MarkStack(classes)
					name := classes[placed.Blame].Name()
					if name, _, _ = strings.Cut(name, "+0x"); name != labBlame[s.Role] {
						t.Errorf("%s %s: %s is blamed on %s, want %s", file, run.Name, s.Role, name, labBlame[s.Role])
					}
					signature := blame.Sign(kindOf(s.Kind), classes, placed)
					role := s.Role
					if shared, ok := labShared[role]; ok {
						role = shared
					}
					if s.Role == "va_dependencies" { // of one build of Windows
						continue
					}
					if signature.Provisional {
						t.Errorf("%s: provisional", s.Role)
					}
					if byRole[role] == "" {
						byRole[role] = signature.ID
					}
					if byRole[role] != signature.ID {
						t.Errorf("%s %s: %s has another signature: %v", file, run.Name, s.Role, signature.Frames)
					}
					if other := roleOf[signature.ID]; other != "" && other != role {
						t.Errorf("%s and %s share a signature: %v", other, role, signature.Frames)
					}
					roleOf[signature.ID] = role
				}
			}
		}
	}
	t.Logf("%d stacks, %d signatures", judged, len(roleOf))
}

func kindOf(kind string) string {
	if kind == "valloc" {
		return "virtual"
	}
	return "heap"
}

func (r *labRun) modules() map[string]*blame.Module {
	modules := map[string]*blame.Module{}
	for _, m := range r.Modules {
		system := strings.HasPrefix(m.Path, `C:\Windows\`)
		modules[m.Name] = &blame.Module{Name: m.Name, Path: m.Path, Build: m.GUID, Private: m.Supplied &&
			!system, Program: strings.HasPrefix(strings.ToLower(r.Process), strings.ToLower(m.Name)+".")}
	}
	return modules
}

func classesOf(modules map[string]*blame.Module, frames []labFrame) []*blame.Class {
	var stack []*blame.Class
	rules := blame.DefaultRules()
	for _, f := range frames {
		for _, in := range f.Inlined {
			c := rules.Class(&blame.Frame{Module: modules[f.Module], Function: in.Function, File: in.File})
			stack = append(stack, &c)
		}
		c := rules.Class(&blame.Frame{Module: modules[f.Module], Function: f.Function, File: f.File, Offset: 0x10})
		stack = append(stack, &c)
	}
	return stack
}
