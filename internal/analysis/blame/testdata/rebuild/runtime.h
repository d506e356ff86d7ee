// What a program needs that is built without a C run time.
#pragma once
typedef __SIZE_TYPE__ size_t;
extern "C" void *malloc(size_t);
extern "C" void *realloc(void *, size_t);
extern "C" void free(void *);
extern "C" void *memcpy(void *, const void *, size_t);
extern "C" void *memset(void *, int, size_t);
extern "C" size_t strlen(const char *);
inline void *operator new(size_t, void *at) noexcept { return at; }
void *operator new(size_t);
void *operator new[](size_t);
void operator delete(void *) noexcept;
void operator delete(void *, size_t) noexcept;
void operator delete[](void *) noexcept;

// Outside inputs, which no compiler may assume anything of.
extern volatile int input;
extern void *volatile kept;

namespace std {
template <class T> struct allocator {
	T *allocate(size_t n) { return static_cast<T *>(operator new(n * sizeof(T))); }
	void deallocate(T *p) { operator delete(p); }
};

template <class T> class vector {
public:
	~vector() { alloc_.deallocate(first_); }
	void push_back(const T &v) {
		if (size_ == room_) _Emplace_reallocate(v);
		else new (first_ + size_++) T(v);
	}
	void reserve(int n) { if (n > room_) _Reallocate(n); }
	T &operator[](int i) { return first_[i]; }
	int size() const { return size_; }
private:
	void _Emplace_reallocate(const T &v) {
		_Reallocate(room_ * 2 + 4);
		new (first_ + size_++) T(v);
	}
	void _Reallocate(int n) {
		T *next = alloc_.allocate(n);
		for (int i = 0; i < size_; ++i) new (next + i) T(first_[i]);
		alloc_.deallocate(first_);
		first_ = next;
		room_ = n;
	}
	allocator<T> alloc_;
	T *first_ = nullptr;
	int size_ = 0, room_ = 0;
};

template <class T, class... A> T *make_unique(A... a) { return new T(a...); }

class string {
public:
	string() {}
	string(const char *s) { assign(s, int(strlen(s))); }
	string(const string &s) { assign(s.text_ ? s.text_ : "", s.length_); }
	string &append(const char *s) {
		int more = int(strlen(s));
		char *next = new char[length_ + more + 1];
		if (text_) memcpy(next, text_, length_);
		memcpy(next + length_, s, more + 1);
		delete[] text_;
		text_ = next;
		length_ += more;
		return *this;
	}
	const char *c_str() const { return text_; }
	int size() const { return length_; }
private:
	void assign(const char *s, int n) {
		text_ = new char[n + 1];
		memcpy(text_, s, n);
		text_[n] = 0;
		length_ = n;
	}
	char *text_ = nullptr;
	int length_ = 0;
};
}
