package blame_test

import (
	"fmt"

	"heapdrift/internal/analysis/blame"
)

func Example() {
	rules, err := blame.ParseRules(`
		function:PoolAlloc* -> alloc
		module:shop function:Basket::* -> owner="team basket"
	`)
	if err != nil {
		fmt.Println(err)
		return
	}
	shop := &blame.Module{Name: "shop", Path: `C:\shop\shop.exe`, Own: true, Program: true}
	ntdll := &blame.Module{Name: "ntdll", Path: `C:\Windows\System32\ntdll.dll`}
	var stack []*blame.Class
	for _, f := range []blame.Frame{ // innermost first
		{Module: ntdll, Function: "RtlAllocateHeap"},
		{Module: shop, Function: "PoolAllocate"},
		{Module: shop, Function: "std::vector<Item>::push_back"},
		{Module: shop, Function: "Basket::Add"},
		{Module: shop, Function: "main"},
		{Module: ntdll, Function: "RtlUserThreadStart"},
	} {
		class := rules.Class(&f)
		stack = append(stack, &class)
	}
	placed := blame.MarkStack(stack)
	for i, mark := range placed.Marks {
		fmt.Printf("%-9s %-22s %s\n", mark.Layer, mark.Rule, stack[i].Name())
	}
	fmt.Println(blame.Sign("heap", stack, placed).Title)
	fmt.Println(placed.Attributes(stack).Owner)
	// Output:
	// alloc     alloc/ntdll            ntdll!RtlAllocateHeap
	// alloc     project/2              shop!PoolAllocate
	// plumbing  plumbing/stl           shop!std::vector<T>::push_back
	// app       origin/own-symbols     shop!Basket::Add
	// app       origin/own-symbols     shop!main
	// base      base/thread            ntdll!RtlUserThreadStart
	// std::vector<T>::push_back | shop!Basket::Add
	// team basket
}
