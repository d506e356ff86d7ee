package blame_test

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/analysis/blame"
)

var benchNames = []string{
	"RtlAllocateHeap", "_malloc_base", "operator new",
	"std::vector<std::pair<int,char>,std::allocator<std::pair<int,char> > >::_Emplace_reallocate<std::pair<int,char> const &>",
	"std::_Tree<std::_Tmap_traits<int,Foo,std::less<int>,std::allocator<std::pair<int const ,Foo> >,0> >::_Emplace<int &>",
	"app::`anonymous namespace'::ReadConfig", "app::Session::Open",
	"app::Session::Run::<lambda_2>::operator()", "app::Service::Main", "main", "__scrt_common_main_seh",
	"BaseThreadInitThunk", "RtlUserThreadStart",
}

func BenchmarkNormalize(b *testing.B) {
	bytes := 0
	for _, n := range benchNames {
		bytes += len(n)
	}
	b.SetBytes(int64(bytes))
	for b.Loop() {
		for _, n := range benchNames {
			blame.NormalizeFunction(n)
		}
	}
}

func BenchmarkClass(b *testing.B) {
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, "module:third%d* function:Get%d* -> -app owner=team%d\n", i, i, i)
	}
	for name, rules := range map[string]*blame.Rules{"core": blame.DefaultRules(), "100 rules": parse(b, text.String())} {
		b.Run(name, func(b *testing.B) {
			module := &blame.Module{Name: "app", Path: `C:\Program Files\app\app.exe`, Own: true}
			for b.Loop() {
				for _, n := range benchNames {
					rules.Class(&blame.Frame{Module: module, Function: n, File: `c:\src\app\session.cpp`})
				}
			}
			b.ReportMetric(float64(b.N)*float64(len(benchNames))/b.Elapsed().Seconds(), "frames/s")
		})
	}
}

func benchStack() []*blame.Class {
	module := &blame.Module{Name: "app", Path: `C:\Program Files\app\app.exe`, Own: true}
	var stack []*blame.Class
	for i := range 32 {
		class := blame.DefaultRules().Class(&blame.Frame{Module: module,
			Function: benchNames[min(i*len(benchNames)/32, len(benchNames)-1)] + fmt.Sprint(i)})
		stack = append(stack, &class)
	}
	return stack
}

func BenchmarkPlace(b *testing.B) {
	stack := benchStack()
	var marks []blame.Mark
	for b.Loop() {
		marks = blame.MarkStackInto(marks, stack).Marks
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "stacks/s")
}

func BenchmarkSign(b *testing.B) {
	stack := benchStack()
	placed := blame.MarkStack(stack)
	for b.Loop() {
		blame.Sign("heap", stack, placed)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "stacks/s")
}
