package pdbtest

// Sample is a small program with something of everything.
func Sample() *Program {
	at := func(offset uint32) Address { return Address{Section: 1, Offset: offset} }
	const source, header = `c:\shop\cart.cpp`, `c:\shop\item.h`
	return &Program{
		GUID: [16]byte{0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 1, 2, 3, 4, 5, 6, 7, 8}, Age: 1,
		InfoAge: 3, Signature: 0x65000000,
		Sections: Standard(0x1000),
		Structs: []Struct{{Name: "shop::Item", Size: 32, Fields: []Field{
			{Name: "price", Type: Uint64}, {Name: "next", Offset: 8, Type: PointerTo(Named("shop::Item"))},
			{Name: "kind", Offset: 16, Type: Bits(Ulong, 4, 3)}, {Name: "code", Offset: 20, Type: ArrayOf(Char, 12)},
		}}},
		Modules: []Module{
			{Name: `c:\obj\item.obj`, Exports: []string{"shop::Item::total"}},
			{Name: `c:\obj\cart.obj`, Functions: []Function{
				{
					Name: "shop::Cart::add", Decorated: "?add@Cart@shop@@QEAAXXZ", Address: at(0x10), Length: 0x90,
					Lines: []Line{{0, source, 10}, {0, source, 11}, {0x20, header, 5}, {0x30, source, 14}},
					Calls: []Call{{Offset: 0x20, Length: 5, Target: "shop::audit"}, {Offset: 0x28, Length: 3}},
					Allocations: []Allocation{{Call: Call{Offset: 0x40, Length: 6}, Type: "shop::Item"},
						{Call: Call{Offset: 0x48, Length: 2}}},
					Inlines: []Inline{{
						Function: "shop::Item::total", From: `c:\obj\item.obj`, File: header, Line: 100,
						Ranges: []InlinedLine{{0x50, 8, 101, ""}, {0x58, 4, 103, ""}, {0x70, 6, 99, ""}},
						Inlines: []Inline{{Function: "std::max<int>", File: `c:\vc\algorithm`, Line: 7,
							Ranges: []InlinedLine{{0x52, 3, 8, ""}, {0x60, 2, 9, header}}}},
					}},
				},
				{Name: "shop::audit", Local: true, Address: at(0x100), Length: 0x30, Locals: []string{"cart", "sum"}},
				{Name: "shop::same", Address: at(0x100), Length: 0x30, Folded: true},
			}},
			{
				Name: `c:\obj\main.obj`, Clang: true,
				Functions: []Function{{
					Name: "main", Decorated: "main", Address: at(0x800), Length: 0x40, Lines: []Line{{0, `c:\shop\main.cpp`, 1}},
					Inlines: []Inline{{Function: "help", File: header, Line: 300,
						Ranges: []InlinedLine{{0x8, 8, 301, ""}, {0x10, 4, 5, ""}, {0x30, 6, 9000, source}}}},
				}},
				Thunks:    []Thunk{{Name: "jump", Address: at(0x900), Length: 6}},
				Separated: []SeparatedPart{{Address: at(0xA00), Length: 16, Parent: at(0x800)}},
			},
			{Name: "* Linker *", Trampolines: []Trampoline{{Address: at(0xB00), Length: 5, Target: at(0x800)}}},
			{Name: "import.lib", NoStream: true},
		},
		Publics: []Public{{Name: "NtClose", Address: at(0xC00)}, {Name: "ZwClose", Address: at(0xC00)},
			{Name: "?items@@3HA", Address: Address{Section: 3, Offset: 4}, Data: true}},
	}
}
