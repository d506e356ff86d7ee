// A stand-in for the statically linked C run time.
#include "runtime.h"
extern "C" int _fltused = 0;
volatile int input;
void *volatile kept;
static char arena[1 << 16];
static size_t taken;

extern "C" __declspec(noinline) void *malloc(size_t n) {
	size_t at = taken;
	taken += (n + 15) & ~size_t(15);
	return taken <= sizeof arena ? arena + at : nullptr;
}
extern "C" __declspec(noinline) void *realloc(void *, size_t n) {
	void *p = malloc(n);
	kept = p;
	return p;
}
extern "C" __declspec(noinline) void free(void *p) { kept = p; }
extern "C" __declspec(noinline) void *memcpy(void *to, const void *from, size_t n) {
	for (size_t i = 0; i < n; ++i) static_cast<volatile char *>(to)[i] = static_cast<const char *>(from)[i];
	return to;
}
extern "C" __declspec(noinline) void *memset(void *to, int c, size_t n) {
	for (size_t i = 0; i < n; ++i) static_cast<volatile char *>(to)[i] = char(c);
	return to;
}
extern "C" __declspec(noinline) size_t strlen(const char *s) {
	size_t n = 0;
	while (static_cast<const volatile char *>(s)[n]) ++n;
	return n;
}
__declspec(noinline) void *operator new(size_t n) {
	for (;;) {
		if (void *p = malloc(n)) return p;
	}
}
__declspec(noinline) void *operator new[](size_t n) { return operator new(n); }
void operator delete(void *p) noexcept { free(p); }
void operator delete(void *p, size_t) noexcept { free(p); }
void operator delete[](void *p) noexcept { free(p); }

extern "C" int atexit(void (*)()) { return 0; }
extern "C" int _purecall() { return 0; }

int main();
static __declspec(noinline) int __scrt_common_main_seh() {
	int r = main();
	kept = &r;
	return r;
}
extern "C" int mainCRTStartup() { return __scrt_common_main_seh() + input; }
