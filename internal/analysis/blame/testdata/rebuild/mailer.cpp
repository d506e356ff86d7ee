// A mail program: folders, a cache of messages, filters, a thread that polls and one that indexes. The test moves what
// stands between @function and @end, and puts lambdas where @lambda stands.
#include "runtime.h"

extern "C" unsigned pollThread(void *);
extern "C" unsigned indexThread(void *);

namespace mail {
struct Part;
class Message;
class Filter;
class Folder;
static const char *skipSpace(const char *s);
static char *duplicate(const char *s, int n);
static void applyFilters(Filter **filters, int n, Message *m);
static void recurse(Folder *f, int depth);
static void reportError(int code);
static int connectServer(int account);
static int login(int account);
static int poll(int account);

struct Address {
	std::string name, host;
	Address(const char *text) : name(text), host(text) {}
};

struct Part {
	char *body;
	int size;
	Part *next;
};

class Message {
public:
	Message(int id) : id_(id), from_(nullptr), parts_(nullptr) {}
	void parse(const char *raw);
	void attach(const char *data, int n);
	int weight() const {
		int total = 0;
		for (Part *p = parts_; p; p = p->next) total += p->size;
		return total;
	}
	int id() const { return id_; }
private:
	void header(const char *line);
	Part *newPart(int n);
	int id_;
	Address *from_;
	Part *parts_;
};

template <class K, class V> class Cache {
public:
	V *get(K key) {
		for (Node *n = buckets_[bucket(key)]; n; n = n->next) {
			if (n->key == key) return n->value;
		}
		return nullptr;
	}
	void put(K key, V *value) {
		Node *n = new Node;
		n->key = key;
		n->value = value;
		int b = bucket(key);
		n->next = buckets_[b];
		buckets_[b] = n;
		++size_;
	}
	int size() const { return size_; }
private:
	struct Node {
		K key;
		V *value;
		Node *next;
	};
	static int bucket(K key) { return int(key) & 63; }
	Node *buckets_[64];
	int size_;
};

static Cache<int, Message> messages;
static Cache<long long, std::string> subjects;
static std::vector<int> unread;

class Folder {
public:
	Message *fetch(int id) {
		if (Message *m = messages.get(id)) return m;
		Message *m = load(id);
		messages.put(id, m);
		remember(id);
		return m;
	}
	int scan(int from, int to) {
		int sum = 0;
		for (int i = from; i < to; ++i) sum += fetch(i)->weight();
		return sum;
	}
private:
	Message *load(int id) {
		Message *m = new Message(id);
		m->parse("From: a@b\nSubject: c\n\nbody");
		return m;
	}
	void remember(int id) {
		unread.push_back(id);
		names_.push_back(std::string("INBOX"));
	}
	std::vector<std::string> names_;
};

static Folder inbox, archive;

class Filter {
public:
	virtual bool accepts(const Message *m) = 0;
	virtual void act(Message *m) = 0;
};

class SpamFilter : public Filter {
public:
	bool accepts(const Message *m) override {
		train(m->id());
		return m->weight() > input;
	}
	void act(Message *m) override {
		tokens_.push_back(m->id());
		m->attach("spam", 4);
	}
private:
	void train(int word) {
		if (count_ == room_) {
			room_ = room_ * 2 + 16;
			words_ = static_cast<int *>(realloc(words_, room_ * sizeof(int)));
		}
		words_[count_++] = word;
	}
	std::vector<long> tokens_;
	int *words_ = nullptr;
	int count_ = 0, room_ = 0;
};

class Index {
public:
	void add(Message *m) {
		//@lambda
		auto entry = [this](int word) {
			Entry *e = new Entry;
			e->word = word;
			e->next = head_;
			head_ = e;
			return e;
		};
		for (int i = 0; i < m->weight(); ++i) {
			Entry *e = entry(i);
			if (i % 3 == 0) link(e, m);
		}
		auto subject = [m] {
			std::string *s = new std::string("subject");
			s->append(" re");
			return s;
		};
		subjects.put(m->id(), subject());
	}
	template <class F> void each(F f) {
		for (Entry *e = head_; e; e = e->next) f(e->word);
	}
private:
	struct Entry {
		int word;
		Entry *next;
		std::vector<Message *> where;
	};
	void link(Entry *e, Message *m) { e->where.push_back(m); }
	Entry *head_ = nullptr;
};

static Index theIndex;

template <class T> T *clone(const T &from) {
	T *copy = static_cast<T *>(malloc(sizeof(T)));
	memcpy(copy, &from, sizeof(T));
	return copy;
}

struct Settings {
	int interval, limit;
	std::string *signature;
	static Settings *read(const char *path);
};

static Settings *settings;

//@function
static const char *skipSpace(const char *s) {
	while (*s == ' ') ++s;
	return s;
}
//@end

//@function
static char *duplicate(const char *s, int n) {
	char *copy = static_cast<char *>(malloc(n + 1));
	memcpy(copy, s, n);
	copy[n] = 0;
	return copy;
}
//@end

//@function
Part *Message::newPart(int n) {
	Part *p = new Part;
	p->body = static_cast<char *>(malloc(n));
	p->size = n;
	p->next = parts_;
	parts_ = p;
	return p;
}
//@end

//@function
void Message::attach(const char *data, int n) {
	Part *p = newPart(n);
	memcpy(p->body, data, n);
}
//@end

//@function
void Message::header(const char *line) {
	line = skipSpace(line);
	if (line[0] == 'F') {
		delete from_;
		from_ = new Address(line + 5);
	} else {
		kept = duplicate(line, int(strlen(line)));
	}
}
//@end

//@function
void Message::parse(const char *raw) {
	int n = int(strlen(raw));
	for (int i = 0; i < n; ++i) {
		if (raw[i] == '\n') header(raw + i + 1);
	}
	attach(raw, n);
}
//@end

//@function
static void applyFilters(Filter **filters, int n, Message *m) {
	for (int i = 0; i < n; ++i) {
		if (filters[i]->accepts(m)) filters[i]->act(m);
	}
}
//@end

//@function
Settings *Settings::read(const char *path) {
	Settings s;
	s.interval = input;
	s.limit = input;
	s.signature = std::make_unique<std::string>(path);
	Settings *kept = clone(s);
	if (s.limit > 10) kept->signature->append(" --");
	return kept;
}
//@end

//@function
static void recurse(Folder *f, int depth) {
	if (depth > 4) return;
	f->scan(depth, depth + 2);
	recurse(f, depth + 1);
	kept = clone(depth);
}
//@end

//@function
static void reportError(int code) {
	char *text = static_cast<char *>(malloc(64));
	text[0] = char(code);
	kept = text;
}
//@end

//@function
static int connectServer(int account) {
	char *buffer = new char[4096];
	buffer[0] = char(account);
	if (input == 7) {
		reportError(account);
		return -1;
	}
	kept = buffer;
	return account;
}
//@end

//@function
static int login(int account) {
	int socket = connectServer(account);
	if (socket < 0) {
		reportError(socket);
		return 0;
	}
	kept = duplicate("token", 5);
	return socket;
}
//@end

//@function
static int poll(int account) {
	int socket = login(account);
	if (!socket) return 0;
	return inbox.scan(socket, socket + 20);
}
//@end
//@region
}

using namespace mail;

//@function
extern "C" unsigned pollThread(void *) {
	int total = 0;
	for (int round = 0; round < input; ++round) {
		total += poll(round & 3);
		if (total < 0) reportError(total);
	}
	return total;
}
//@end

//@function
extern "C" unsigned indexThread(void *filter) {
	Filter *filters[] = {static_cast<Filter *>(filter), static_cast<Filter *>(filter)};
	for (int id = 0; id < input; ++id) {
		Message *m = archive.fetch(id);
		applyFilters(filters, 2, m);
		theIndex.add(m);
	}
	std::vector<int> words;
	theIndex.each([&words](int w) { words.push_back(w); });
	return words.size();
}
//@end

//@function
int main() {
	settings = Settings::read("mail.ini");
	SpamFilter *spam = new SpamFilter;
	kept = spam;
	recurse(&archive, input);
	kept = (void *)&pollThread;
	kept = (void *)&indexThread;
	//@lambda
	auto show = [](int id) {
		Message *m = inbox.fetch(id);
		char *line = new char[80];
		line[0] = char(m->weight());
		kept = line;
	};
	for (int i = 0; i < input; ++i) show(i);
	return unread.size();
}
//@end
