// Functions that are alike and lie apart, for the linker to fold together.
volatile int sink;

struct Battery {
	int level;
	int charge() const;
};

struct Sensor {
	int value;
	int reading() const;
};

__declspec(noinline) int Battery::charge() const
{
	int r = level;
	r += sink;
	return r * 3;
}

__declspec(noinline) int alpha(int v)
{
	int r = v + sink;
	return r * 7;
}

__declspec(noinline) int between(int v)
{
	return v * 5 + sink;
}

__declspec(noinline) int beta(int v)
{
	int r = v + sink;
	return r * 7;
}

__declspec(noinline) int Sensor::reading() const
{
	int r = value;
	r += sink;
	return r * 3;
}

__declspec(noinline) int gamma(int v)
{
	int r = v + sink;
	return r * 7;
}

extern "C" int mainCRTStartup()
{
	Battery a = {sink};
	Sensor b = {sink};
	return a.charge() + b.reading() + alpha(sink) + beta(sink) + gamma(sink) + between(sink);
}
