// A media player: plug-ins behind function pointers, a class that its derived classes complete, wrappers around the allocator,
// a parser that recurs through three functions. The test moves what stands between @function and @end.
#include "runtime.h"

extern "C" unsigned decodeThread(void *);

namespace player {
class Track;
struct Node;
static void *xmalloc(size_t n);
static char *xstrdup(const char *s);
static Node *makeNode(int kind);
static Node *parseList(const char *&at);
static Node *parseItem(const char *&at);
static Node *parseGroup(const char *&at);
static int openFile(Track *t);
static int visualise(int n);
static int equalise(int n);
static int loadPlugins(int n);

struct Node {
	int kind;
	Node *child, *next;
	char *text;
};

// Every decoder counts its frames here and decodes them itself.
template <class Derived> class Decoder {
public:
	int decode(int n) {
		int sum = 0;
		for (int i = 0; i < n; ++i) {
			Frame *f = newFrame(i);
			sum += static_cast<Derived *>(this)->fill(f);
			if (sum > input) static_cast<Derived *>(this)->note(f->size);
		}
		return sum;
	}
protected:
	struct Frame {
		int size;
		char *data;
	};
	Frame *newFrame(int i) {
		Frame *f = static_cast<Frame *>(xmalloc(sizeof(Frame)));
		f->size = i * 16;
		f->data = nullptr;
		return f;
	}
};

class Mp3 : public Decoder<Mp3> {
public:
	int fill(Frame *f) {
		f->data = new char[f->size];
		return f->size;
	}
	void note(int n) { sizes_.push_back(n); }
private:
	std::vector<int> sizes_;
};

class Ogg : public Decoder<Ogg> {
public:
	int fill(Frame *f) {
		packet(f);
		return f->size / 2;
	}
	void note(int n);
private:
	void packet(Frame *f) {
		f->data = static_cast<char *>(xmalloc(f->size + 4));
		pages_.push_back(f->size);
	}
	std::vector<short> pages_;
};

class Track {
public:
	explicit Track(const char *path) : path_(path), title_(nullptr) {}
	int play();
	void rename(const char *title) {
		title_ = xstrdup(title);
		history_.push_back(title_);
	}
	int kind() const { return path_.size(); }
private:
	std::string path_;
	char *title_;
	std::vector<char *> history_;
	Mp3 mp3_;
	Ogg ogg_;
};

class Playlist {
public:
	Track *add(const char *path) {
		Track *t = new Track(path);
		tracks_.push_back(t);
		return t;
	}
	void load(const char *text);
	int playAll() {
		int sum = 0;
		for (int i = 0; i < tracks_.size(); ++i) sum += tracks_[i]->play();
		return sum;
	}
private:
	void import(const Node *n) {
		for (; n; n = n->next) {
			add(n->text)->rename(n->text);
			if (n->child) import(n->child);
		}
	}
	std::vector<Track *> tracks_;
};

typedef int (*PluginEntry)(int);
static PluginEntry volatile plugins[8];
static Playlist *playlist;

//@function
static void *xmalloc(size_t n) {
	void *p = malloc(n);
	if (!p) input = 1;
	return p;
}
//@end

//@function
static char *xstrdup(const char *s) {
	size_t n = strlen(s) + 1;
	char *copy = static_cast<char *>(xmalloc(n));
	memcpy(copy, s, n);
	return copy;
}
//@end

//@function
static Node *makeNode(int kind) {
	Node *n = static_cast<Node *>(xmalloc(sizeof(Node)));
	n->kind = kind;
	n->child = n->next = nullptr;
	n->text = nullptr;
	return n;
}
//@end

//@function
static Node *parseList(const char *&at) {
	Node *first = nullptr;
	while (*at && *at != ')') {
		Node *n = parseItem(at);
		n->next = first;
		first = n;
	}
	return first;
}
//@end

//@function
static Node *parseItem(const char *&at) {
	if (*at == '(') return parseGroup(at);
	Node *n = makeNode(1);
	n->text = xstrdup(at++);
	return n;
}
//@end

//@function
static Node *parseGroup(const char *&at) {
	++at;
	Node *n = makeNode(2);
	n->child = parseList(at);
	if (*at) ++at;
	n->text = xstrdup("group");
	return n;
}
//@end

//@function
void Ogg::note(int n) {
	pages_.push_back(short(n));
	kept = xmalloc(n);
}
//@end

//@function
static int openFile(Track *t) {
	auto buffer = [](int n) {
		char *b = new char[n];
		kept = b;
		return n;
	};
	int n = buffer(t->kind());
	if (n > 100) t->rename("long");
	return n;
}
//@end

//@function
int Track::play() {
	int n = openFile(this);
	if (kind() & 1) return mp3_.decode(n);
	return ogg_.decode(n) + 1;
}
//@end

//@function
void Playlist::load(const char *text) {
	const char *at = text;
	Node *list = parseList(at);
	import(list);
}
//@end

//@function
static int visualise(int n) {
	static std::vector<int> *bars;
	if (!bars) bars = new std::vector<int>;
	bars->reserve(n);
	return bars->size();
}
//@end

//@function
static int equalise(int n) {
	float *bands = static_cast<float *>(xmalloc(n * sizeof(float)));
	bands[0] = 1;
	kept = bands;
	return n;
}
//@end

//@function
static int loadPlugins(int n) {
	plugins[0] = visualise;
	plugins[1] = equalise;
	int sum = 0;
	for (int i = 0; i < n; ++i) sum += plugins[i & 7](i);
	return sum;
}
//@end
//@region
}

using namespace player;

//@function
extern "C" unsigned decodeThread(void *track) {
	Track *t = static_cast<Track *>(track);
	unsigned sum = 0;
	while (input) sum += t->play();
	return sum;
}
//@end

//@function
int main() {
	playlist = new Playlist;
	playlist->load("a(bc(d))");
	kept = (void *)&decodeThread;
	int sum = loadPlugins(input);
	sum += playlist->playAll();
	return sum;
}
//@end
