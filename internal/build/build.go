// Package build tells what this program is: its version, and the commit, the compiler and the platform that it was
// built with. Versions are decided here alone, for releases and for plain builds alike, so that one commit has one
// version.
package build

import (
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// FirstVersion is the release that commits before the first tag lead to.
const FirstVersion = "0.1.0"

// Package is the path of this package, below which Stamp sets variables.
const Package = "heapdrift/internal/build"

// Platforms are the platforms that a release is built for, as GOOS/GOARCH.
var Platforms = []string{"darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64", "windows/amd64", "windows/arm64"}

// Clients are the platforms that a release has the client for: Platforms, and 32-bit Windows.
var Clients = append(slices.Clone(Platforms), "windows/386")

// What tools/build sets with the linker; all empty in a plain build.
var version, commit, date, modified string

// Info is what is known of a program.
type Info struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`   // hash; "" where unknown
	Modified bool   `json:"modified"` // the tree had changes that are in no commit
	Date     string `json:"date"`     // of the commit, RFC 3339 in UTC
	Go       string `json:"go"`       // version of the compiler
	Platform string `json:"platform"` // GOOS/GOARCH
}

// Current is what is known of this program.
var Current = sync.OnceValue(func() Info {
	if version != "" {
		return Info{version, commit, modified == "true", date, runtime.Version(), platform}
	}
	info, _ := debug.ReadBuildInfo()
	return fromToolchain(info)
})

const platform = runtime.GOOS + "/" + runtime.GOARCH

// fromToolchain is what go build recorded. It knows the version control system only where it was asked in a clone.
func fromToolchain(recorded *debug.BuildInfo) Info {
	i := Info{Go: runtime.Version(), Platform: platform}
	tag, exact := "", false
	if recorded != nil {
		for _, s := range recorded.Settings {
			switch s.Key {
			case "vcs.revision":
				i.Commit = s.Value
			case "vcs.time":
				i.Date = s.Value
			case "vcs.modified":
				i.Modified = s.Value == "true"
			}
		}
		tag, exact = tagOf(recorded.Main.Version)
	}
	i.Version = name(tag, exact, i.Commit, i.Modified)
	return i
}

const (
	digits    = "0123456789"
	hexDigits = digits + "abcdef"
)

// isOf reports whether a text is one or more of the bytes in set.
func isOf(s, set string) bool { return s != "" && strings.Trim(s, set) == "" }

// isRelease reports whether a tag is vX.Y.Z.
func isRelease(tag string) bool {
	numbers, isTag := strings.CutPrefix(tag, "v")
	parts := strings.Split(numbers, ".")
	return isTag && len(parts) == 3 && isOf(parts[0], digits) && isOf(parts[1], digits) && isOf(parts[2], digits)
}

// cutLast cuts a text at the last separator.
func cutLast(s, separator string) (before, after string) {
	at := strings.LastIndex(s, separator)
	if at < 0 {
		return "", s
	}
	return s[:at], s[at+len(separator):]
}

// pseudo takes a version apart that the toolchain makes for commits without a tag: vX.Y.Z-DATE-COMMIT from none,
// vX.Y.Z-0.DATE-COMMIT from vX.Y.(Z-1), vX.Y.Z-PRE.0.DATE-COMMIT from vX.Y.Z-PRE.
func pseudo(version string) (release, pre string, ok bool) {
	const dateDigits, commitDigits = 14, 12
	rest, commit := cutLast(version, "-")
	release, rest, _ = strings.Cut(rest, "-")
	if len(commit) != commitDigits || !isOf(commit, hexDigits) || !isRelease(release) || len(rest) < dateDigits ||
		!isOf(rest[len(rest)-dateDigits:], digits) {
		return "", "", false
	}
	if rest = rest[:len(rest)-dateDigits]; rest == "" || rest == "0." {
		return release, "", true
	}
	pre, ok = strings.CutSuffix(rest, ".0.")
	return release, pre, ok && pre != ""
}

// tagOf is the tag that a version of the toolchain comes from, and whether it is that of the commit itself.
func tagOf(toolchain string) (tag string, exact bool) {
	v := strings.TrimSuffix(toolchain, "+dirty")
	release, pre, ok := pseudo(v)
	switch {
	case !ok:
		return v, strings.HasPrefix(v, "v")
	case pre != "":
		return release + "-" + pre, false
	case release == "v0.0.0":
		return "", false
	}
	major, patch := cutLast(release, ".")
	n, err := strconv.Atoi(patch)
	if err != nil || n == 0 {
		return "", false
	}
	return major + "." + strconv.Itoa(n-1), false // the toolchain has counted on from the tag
}

// Version makes a commit's version from the output of "git describe --tags --long"; describe is "" where no tag comes
// before the commit.
func Version(describe, commit string, modified bool) string {
	tag, exact := "", false
	rest, hash := cutLast(describe, "-g")
	before, count := cutLast(rest, "-")
	release, pre, isPre := strings.Cut(before, "-")
	if isOf(hash, hexDigits) && isOf(count, digits) && isRelease(release) && isPre == (pre != "") {
		tag, exact = before, count == "0"
	}
	return name(tag, exact, commit, modified)
}

// name is the version of a commit that has a tag (exact) or comes behind one. What comes behind 0.1.0 is on the way to
// 0.1.1, so that it sorts between both, whatever the next release is called.
func name(tag string, exact bool, commit string, modified bool) string {
	base := strings.TrimPrefix(tag, "v")
	var marks []string
	if !exact {
		base = following(base) + "dev"
		if commit != "" {
			marks = append(marks, commit[:min(len(commit), 12)])
		}
	}
	if modified {
		marks = append(marks, "modified")
	}
	if len(marks) == 0 {
		return base
	}
	return base + "+" + strings.Join(marks, ".")
}

// following is the beginning of the versions between a release and the next.
func following(release string) string {
	if strings.Contains(release, "-") {
		return release + "." // 0.2.0-rc.1.dev is above the candidate and below 0.2.0-rc.2
	}
	i := strings.LastIndexByte(release, '.')
	patch, err := strconv.Atoi(release[i+1:])
	if i < 0 || err != nil {
		return FirstVersion + "-"
	}
	return release[:i+1] + strconv.Itoa(patch+1) + "-"
}

// Stamp returns the flags of the linker with which a program reports i as its own Info.
func (i *Info) Stamp() string {
	var b strings.Builder
	for _, v := range [][2]string{{"version", i.Version}, {"commit", i.Commit}, {"date", i.Date},
		{"modified", strconv.FormatBool(i.Modified)}} {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString("-X " + Package + "." + v[0] + "=" + v[1])
	}
	return b.String()
}
