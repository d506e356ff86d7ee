package blame

// bases are the functions that every stack of a thread has at its outer end.
var bases = newTable([]coreRule{
	{"base/thread", LayerBase, `RtlUserThreadStart RtlUserFiberStart BaseThreadInitThunk BaseThreadInitXfgThunk BaseThreadStart BaseThreadStartThunk BaseProcessStart BaseProcessStartThunk BaseFiberStart
		LdrInitializeThunk LdrpInitialize LdrpInitializeProcess LdrpInitialize* LdrpInitializeThread LdrpInitializeNode LdrpInitializeGraphRecurse LdrpCallInitRoutine* LdrpCallTlsInitializers LdrpRunInitializeRoutines LdrxCallInitRoutine
		PspUserThreadStartup KiStartUserThread PspSystemThreadStartup KiStartSystemThread
		libc_start_main* libc_start_call_main start_thread clone3`},
	{"base/crt", LayerBase, `mainCRTStartup wmainCRTStartup WinMainCRTStartup wWinMainCRTStartup scrt_common_main* invoke_main tmainCRTStartup DllMainCRTStartup* CRT_INIT* DllMainDispatch dllmain_crt_dispatch dllmain_dispatch dllmain_crt_process_attach
		dllmain_raw CRTDLL_INIT* initterm initterm_e thread_start threadstart threadstartex callthreadstart callthreadstartex invoke_thread_procedure* AfxWinMain AfxThreadEntry
		std::thread::Invoke std::thread::_Invoke std::_LaunchPad* std::_Pad::* rust_begin_short_backtrace std::sys::backtrace::* std::sys_common::backtrace::* std::rt::lang_start*`},
	{"base/pool", LayerBase, `TppWorkerThread TppWorkpExecuteCallback TppSimplepExecuteCallback TppTimerpExecuteCallback TppWaitpExecuteCallback TppIopExecuteCallback TppExecuteWaitCallback TppAlpcpExecuteCallback TppWorkPost* RtlpTpWorkCallback RtlpTpTimerCallback RtlpTpWaitCallback RtlpTpIoCallback
		RtlpWorkerThread RtlpWorkerCallout RtlpApcCallout RtlpExecuteWorkerRequest RtlpQueueWorkItem* BasepTpIoCallback BasepTpWorkCallback BasepTpTimerCallback ATL::CThreadPool<* CThreadPool<* ThreadpoolMgr::*`},
	{"base/window", LayerBase,
		`UserCallWinProc* InternalCallWinProc UserCallDlgProc* DispatchMessage* DispatchClientMessage DispatchHookA DispatchHookW CallWindowProc* KiUserCallbackDispatch* KiUserApcDispatch* KiUserExceptionDispatch* fnDWORD fnINLPCREATESTRUCT fnINOUTLPPOINT5 ClientThreadSetup`},
	{"base/clr", LayerBase, `ThreadNative::KickOffThread* ManagedThreadBase* CorExeMain* ThreadPoolMgr::*`},
})

// tools are the functions of instrumentation that stand in for what they watch.
var tools = newTable([]coreRule{
	{"tool/verifier", LayerTool,
		`AVrf* VerifierHeap* AVrfp* RtlpDebugPageHeap* RtlpDph* VfBasics* VerifierAllocate* VerifierRtl*`},
	{"tool/debug-heap", LayerTool, `RtlDebug* RtlpDebug* RtlpCallInterceptRoutine RtlpHeapInterceptor* RtlpValidateHeap*`},
	{"tool/hook", LayerTool,
		`LeakTrack* CVldHook::* VisualLeakDetector::* asan_* __asan::* sanitizer_* wrap_malloc wrap_calloc wrap_realloc wrap_HeapAlloc* wrap_RtlAllocateHeap* DrMemory* umdh*`},
})

// toolModules are images of instrumentation; none of their frames is the program's.
var toolModules = newGlobs("verifier", "vrfcore", "vfbasics", "vfcompat", "vfnet", "vfprint", "vfnws", "vfluapriv",
	"leaktrack", "vld", "vld_*", "detoured", "detours*", "frida-agent*",
	"clang_rt.asan*", "drmemorylib", "dynamorio", "purify*", "btcli", "bc_*hook*", "memoryhook*", "leakdiag*", "appverif*",
	"edgehook*", "wonderleak*", "deleaker*")

// allocatorModules are images of allocators, whatever their functions are called.
var allocatorModules = newGlobs("mimalloc*", "jemalloc*", "tcmalloc*", "libtcmalloc*", "tbbmalloc*", "libtbbmalloc*",
	"libjemalloc*", "libmimalloc*", "rpmalloc*", "snmalloc*", "smartheap*", "shsmp*", "hoard*")

// unnamedAllocators and unnamedBases are images of the system and of run-times. Their frames without a name are taken
// for the allocator at the inner end, and for the thread's start at the outer end.
var (
	unnamedAllocators = newGlobs("ntoskrnl", "ntkrnlmp", "ntkrnlpa", "ntkrpamp", "ntdll", "ntdll_*", "kernelbase",
		"kernel32", "ucrtbase", "ucrtbased", "msvcrt", "msvcrtd", "msvcr#", "msvcr#d", "msvcr#_clr*", "vcruntime#",
		"vcruntime#d", "vcruntime#_*", "libc.so*", "libstdc++.so*", "libc++.so*")
	unnamedBases = newGlobs("ntdll", "ntdll_*", "kernel32", "libc.so*", "libpthread*")
)

// wow64Modules run 32-bit programs on 64-bit Windows.
var wow64Modules = newGlobs("wow64", "wow64cpu", "wow64win", "wow64base", "wow64con", "xtajit*")

// RunsWOW64 reports whether a module, as debuggers print it, runs 32-bit programs on 64-bit Windows.
func RunsWOW64(module string) bool {
	name := newModuleName(module)
	return wow64Modules.match(&name)
}
