package blame

// allocators are the functions that allocate on behalf of their caller. Names are normalised: without leading
// underscores.
var allocators = newTable([]coreRule{
	{"heap-growth/nt", LayerHeapGrowth, `RtlpExtendHeap RtlpFindAndCommitPages RtlpCommit* RtlpGrow* RtlpCreateUCREntry RtlpHpVaMgr* RtlpHpSeg* RtlpHpHeapExtend*
		RtlpHpAllocVA* RtlpAllocateHeapSegment* RtlpSegmentHeap* RtlpAllocateUserBlock* RtlpAllocateVirtualBlock*`},
	{"heap-growth/clr", LayerHeapGrowth,
		`*gc_heap::* WKS::gc_heap::* SVR::gc_heap::* gc_heap::* GCToOSInterface::Virtual* virtual_alloc_commit_for_heap WKS::virtual_alloc* SVR::virtual_alloc*`},
	{"alloc/ntdll", LayerAllocator, `RtlAllocateHeap RtlReAllocateHeap RtlCreateHeap RtlExtendHeap RtlAllocateHeapSlowl* RtlReAllocateHeapSlowl*
		RtlpAllocateHeap* RtlpReAllocateHeap* RtlpLowFragHeap* RtlpHp* RtlpLfh* RtlpLogHeap* RtlpStackTrace* RtlLogStackBackTrace* RtlpCreateHeap* RtlpInitializeHeap*
		RtlCaptureStackBackTrace RtlAllocateMemoryZone RtlAllocateMemoryBlockLookaside RtlpAllocateMemory*
		NtAllocateVirtualMemory NtAllocateVirtualMemoryEx ZwAllocateVirtualMemory ZwAllocateVirtualMemoryEx NtMapViewOfSection* ZwMapViewOfSection* NtCreateSection* ZwCreateSection*
		NtAllocateUserPhysicalPages* ZwAllocateUserPhysicalPages* KiFastSystemCallRet KiFastSystemCall KiIntSystemCall Wow64SystemServiceCall`},
	{"alloc/kernel32", LayerAllocator, `HeapAlloc HeapAllocStub HeapReAlloc HeapReAllocStub HeapCreate HeapCreateStub LocalAlloc LocalAllocStub LocalReAlloc LocalReAllocStub
		GlobalAlloc GlobalAllocStub GlobalReAlloc GlobalReAllocStub BaseHeapAlloc* VirtualAlloc VirtualAllocStub VirtualAllocEx VirtualAllocExStub VirtualAllocExNuma VirtualAllocExNumaStub
		VirtualAlloc2 VirtualAlloc2FromApp VirtualAllocFromApp VirtualAllocInternal* MapViewOfFile* CreateFileMapping* AllocateUserPhysicalPages*`},
	{"alloc/crt", LayerAllocator, `malloc malloc_base malloc_dbg malloc_crt malloc_impl calloc calloc_base calloc_dbg calloc_crt calloc_impl realloc realloc_base realloc_dbg realloc_crt realloc_impl
		recalloc* expand_base expand_dbg* heap_alloc* realloc_dbg_nolock* calloc_dbg_impl* nh_malloc* heap_realloc* heap_calloc* malloc_nolock* V6_HeapAlloc
		aligned_malloc* aligned_realloc* aligned_recalloc* aligned_offset_malloc* aligned_offset_realloc* aligned_offset_recalloc* aligned_msize* memalign posix_memalign aligned_alloc
		strdup strdup_dbg wcsdup wcsdup_dbg mbsdup mbsdup_dbg tcsdup strndup heap_alloc_dbg_internal* realloc_dbg_impl* common_strdup*`},
	{"alloc/new", LayerAllocator,
		`operator~new operator~new[] *::operator~new *::operator~new[] scalar_new* array_new* Znwm Znwj Znam Znaj Znwy Znay`},
	{"alloc/com", LayerAllocator, `CoTaskMemAlloc CoTaskMemRealloc CRetailMalloc_* CSpyMalloc_* CRetailMalloc::* CSpyMalloc::* IMallocAlloc APP_DATA::* SysAllocString* SysReAllocString*
		SafeArrayAlloc* SafeArrayCreate* VariantCopy* MIDL_user_allocate midl_user_allocate NdrAllocate* NdrOleAllocate NdrpAlloc* I_RpcAllocate I_RpcBCacheAllocate RpcSsAllocate AllocWrapper SHAlloc CoGetMalloc*`},
	{"alloc/clr", LayerAllocator, `EEHeapAlloc* EEVirtualAlloc* ClrAlloc* ClrHeapAlloc* ClrVirtualAlloc* CExecutionEngine::* UnlockedLoaderHeap::* LoaderHeap::* ExecutableAllocator::* EEHeapReAlloc*
		JIT_New* JIT_NewArr* RhpNewFast* RhpNewArray* RhpGcAlloc* RhpNewFinalizable* RhNewObject* RhNewArray* RhNewString* RhNewVariableSizeObject*`},
	{"alloc/mimalloc", LayerAllocator,
		`mi_malloc* mi_zalloc* mi_calloc* mi_realloc* mi_heap_*alloc* mi_new* mi_aligned_alloc* mi_strdup* mi_page_* mi_segment_* mi_os_alloc* mi_arena_* mi_prim_alloc* mi_theap_*`},
	{"alloc/jemalloc", LayerAllocator,
		`je_*alloc* je_arena_* je_tcache_* je_large_* je_extent_* je_pages_* arena_malloc* tcache_alloc* do_rallocx* mallocx rallocx`},
	{"alloc/tcmalloc", LayerAllocator, `tc_malloc* tc_calloc* tc_realloc* tc_new* tc_memalign* tcmalloc::*`},
	{"alloc/checkers", LayerAllocator, `interceptor_* replace_malloc replace_calloc replace_realloc replace_operator_new* replace_HeapAlloc replace_HeapReAlloc replace_RtlAllocateHeap
		replace_RtlReAllocateHeap replace_strdup replace_wcsdup`},
	{"alloc/tbb", LayerAllocator,
		`scalable_malloc scalable_calloc scalable_realloc scalable_aligned_malloc scalable_aligned_realloc rml::* tbb::detail::r1::allocate_memory* tbb::detail::r1::cache_aligned_allocate*`},
	{"alloc/wrapper", LayerAllocator,
		`xmalloc xcalloc xrealloc xzalloc xmemdup xstrdup xstrndup xwcsdup safe_malloc safe_calloc safe_realloc safemalloc emalloc ecalloc erealloc estrdup malloc_or_die *::xmalloc *::xcalloc *::xrealloc *::xstrdup`},
	{"alloc/others", LayerAllocator, `rpmalloc* rpcalloc* rprealloc* rpaligned_alloc* dlmalloc dlcalloc dlrealloc nedmalloc* nedpmalloc* PartitionAlloc* partition_alloc::* allocator_shim::* base::allocator::* ShimMalloc ShimCalloc
		ShimRealloc ShimCppNew* WTF::Partitions::* WTF::fastMalloc* g_malloc* g_realloc* g_try_malloc* g_slice_alloc* moz_xmalloc* moz_xrealloc* moz_xcalloc* snmalloc::* hoardmalloc* sqlite3MemMalloc sqlite3Malloc sqlite3MallocZero
		sqlite3_malloc* sqlite3_realloc* sqlite3DbMalloc* sqlite3Realloc* CRYPTO_malloc* CRYPTO_zalloc* CRYPTO_realloc* CRYPTO_strdup* PyMem_Malloc PyMem_RawMalloc PyMem_Realloc PyObject_Malloc PyObject_Realloc PyMem_Calloc
		rdl_alloc rdl_realloc rdl_alloc_zeroed rust_alloc rust_realloc rust_alloc_zeroed rg_alloc rg_realloc alloc::alloc::* alloc::raw_vec::* std::sys::alloc::* std::sys::windows::alloc::* std::sys::pal::windows::alloc::*
		System.@GetMem System.@ReallocMem System.@AllocMem System.@NewAnsiString System.@NewUnicodeString System.@NewWideString System.SysGetMem System.SysReallocMem System.SysAllocMem System.GetMem System.ReallocMem
		System.AllocMem FastMM4.* FastMM5.* SysGetMem SysReallocMem SysAllocMem`},
})
