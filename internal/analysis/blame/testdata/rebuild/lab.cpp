// Stands in for the libraries that the lab's programs import from.
typedef __SIZE_TYPE__ size_t;
typedef unsigned int u32;
static char arena[1 << 16];
static size_t volatile taken;
static __declspec(noinline) void *take(size_t n) {
	size_t at = taken;
	taken = at + n;
	return arena + at % sizeof arena;
}
#define ALLOCATES __declspec(noinline)
#define DONE(p) asm volatile("" ::"r"(p) : "memory")
extern "C" ALLOCATES void *malloc(size_t n) { void *p = take(n); DONE(p); return p; }
extern "C" ALLOCATES void *realloc(void *, size_t n) { void *p = take(n); DONE(p); return p; }
extern "C" ALLOCATES void free(void *p) { DONE(p); }
extern "C" ALLOCATES void *__stdcall VirtualAlloc(void *, size_t n, u32, u32) { void *p = take(n); DONE(p); return p; }
extern "C" ALLOCATES int __stdcall VirtualFree(void *p, size_t, u32) { DONE(p); return 1; }
extern "C" ALLOCATES void *__stdcall HeapCreate(u32, size_t, size_t) { void *p = arena; DONE(p); return p; }
extern "C" ALLOCATES void *__stdcall HeapAlloc(void *, u32, size_t n) { void *p = take(n); DONE(p); return p; }
extern "C" ALLOCATES void *__stdcall LocalAlloc(u32, size_t n) { void *p = take(n); DONE(p); return p; }
extern "C" ALLOCATES void *__stdcall CreateThread(void *, size_t, void *f, void *, u32, u32 *) { DONE(f); return f; }
extern "C" ALLOCATES void __stdcall Sleep(u32 ms) { DONE(ms); }
extern "C" ALLOCATES void *memset(void *p, int c, size_t n) {
	for (size_t i = 0; i < n; ++i) static_cast<volatile char *>(p)[i] = char(c);
	return p;
}
extern "C" ALLOCATES void *memcpy(void *p, const void *from, size_t n) {
	for (size_t i = 0; i < n; ++i) static_cast<volatile char *>(p)[i] = static_cast<const char *>(from)[i];
	return p;
}
