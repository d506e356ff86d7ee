package debugdiag_test

import (
	"fmt"
	"testing"

	"heapdrift/ingest/debugdiag"
)

func TestParseFrame(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"leaky!Cache::Add<int>+34", `d:\src\leaky\cache.cpp @ 118`, `leaky|Cache::Add<int>|0x34|d:\src\leaky\cache.cpp:118`},
		{"3rdparty!SQLEndTran+e456", "", "3rdparty|SQLEndTran|0xe456|:0"},
		{"3rdparty!IFMX_IsInTransaction+5671      ", "", "3rdparty|IFMX_IsInTransaction|0x5671|:0"},
		{"app!Vector::operator++", "", "app|Vector::operator++|0x0|:0"},
		{"app!Vector::operator+++1f", "", "app|Vector::operator++|0x1f|:0"},
		{"app!operator+", "", "app|operator+|0x0|:0"},
		{"app!std::map<int,char>::operator[]+0x1c", "", "app|std::map<int,char>::operator[]|0x1c|:0"},
		{"leaky+1a30", "", "leaky||0x1a30|:0"},
		{"0x79E8C582", "", "address 0x79e8c582"},
		{"0x00000000`79e8c582", "", "address 0x79e8c582"},
		{"[DEFAULT] [hasThis] Boolean System.Data.Odbc.OdbcDataReader.Read()      ", "",
			"|System.Data.Odbc.OdbcDataReader.Read()|0x0|:0"},
		{"[DEFAULT] [hasThis] SZArray Object System.Web.Invoke(Object,SZArray Object)", "",
			"|System.Web.Invoke(Object,SZArray Object)|0x0|:0"},
		{"[DEFAULT] Void System.Web.HttpRuntime.ProcessRequest(Class System.Web.HttpWorkerRequest)", "",
			"|System.Web.HttpRuntime.ProcessRequest(Class System.Web.HttpWorkerRequest)|0x0|:0"},
		{"System_Data_ni!System.Data.Fill(System.Object)+12", "", "System_Data_ni|System.Data.Fill(System.Object)|0x12|:0"},
		{"System.Data.Fill(System.Object)+12", "", "|System.Data.Fill(System.Object)|0x12|:0"},
		{"app!main+3", `c:\a @ b\main.cpp @ 7 + 2`, `app|main|0x3|:0`},
		{"app!main+3", `c:\a\main.cpp @ 7 + 2`, `app|main|0x3|c:\a\main.cpp:7`},
		{"Cache::Add+34", "", "|Cache::Add|0x34|:0"}, // of a module without a name
		{"Cache::Add", "", "|Cache::Add|0x0|:0"},
		{"main(int)+3", "", "|main(int)|0x3|:0"},
		{"std::map<a!b>::f+3", "", "|std::map<a!b>::f|0x3|:0"},
		{"f(a!b)+3", "", "|f(a!b)|0x3|:0"},
		{"my app!f+3", "", "my app|f|0x3|:0"},
		{"a<b!f+3", "", "no frame"},
		{"a>b!f+3", "", "no frame"},
		{"a<b+3", "", "no frame"},
		{"a>b+3", "", "no frame"},
		{"my app+3", "", "no frame"},
		{"!f+3", "", "no frame"},
		{"app!+3", "", "no frame"},
		{"+3", "", "no frame"},
		{"app+x", "", "no frame"},
		{"app", "", "no frame"},
		{"app!main+3", "c:\\main.cpp @ x", "app|main|0x3|:0"},
		{"app!main+3", " @ 7", "app|main|0x3|:0"},
		{"app!main+3", "c:\\main.cpp @ 4294967295", "app|main|0x3|c:\\main.cpp:4294967295"},
		{"app!main+3", "c:\\main.cpp @ 4294967296", "app|main|0x3|:0"},
		{"[DEFAULT] [hasThis] ", "", "no frame"},
		{"[DEFAULT] A.B.Read", "", "|A.B.Read|0x0|:0"},
		{"just words", "", "no frame"},
		{"", "", "no frame"},
		{"!", "", "no frame"},
		{"[", "", "no frame"},
	} {
		text, address, ok := debugdiag.ParseFrame(c.name, c.source)
		got := fmt.Sprintf("%s|%s|%#x|%s:%d", text.Module, text.Function, text.Offset, text.File, text.Line)
		switch {
		case !ok:
			got = "no frame"
		case address != 0:
			got = fmt.Sprintf("address %#x", address)
		}
		if got != c.want {
			t.Errorf("%q: %s, want %s", c.name, got, c.want)
		}
	}
}
