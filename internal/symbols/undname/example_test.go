package undname_test

import (
	"fmt"

	"heapdrift/internal/symbols/undname"
)

func ExampleUndecorate() {
	name := "?Push@?$Stack@PEAX@app@@QEAAXPEBD@Z"
	fmt.Println(undname.Undecorate(name, undname.Complete))
	fmt.Println(undname.Undecorate(name, undname.NoMSKeywords))
	fmt.Println(undname.Undecorate(name, undname.NameOnly))
	// Output:
	// public: void __cdecl app::Stack<void * __ptr64>::Push(char const * __ptr64) __ptr64
	// public: void app::Stack<void *>::Push(char const *)
	// app::Stack<void * __ptr64>::Push
}

func ExampleDisplay() {
	fmt.Println(undname.Display("?Push@?$Stack@PEAX@app@@QEAAXPEBD@Z", false))
	fmt.Println(undname.Display("_HeapAlloc@12", true))
	// Output:
	// app::Stack<void *>::Push
	// HeapAlloc
}
