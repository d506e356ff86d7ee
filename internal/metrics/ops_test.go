package metrics

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	descName   = regexp.MustCompile(`fqName: "([^"]+)"`)
	metricName = regexp.MustCompile(`\b(?:heapdrift|process|go)_[a-z0-9_]+`)
	expression = regexp.MustCompile(`(?m)^\s+expr: (.*)$`)
)

// names are the metrics of a process. A histogram has three.
func names(t *testing.T) map[string]bool {
	t.Helper()
	list := map[string]bool{}
	to := make(chan *prometheus.Desc)
	go func() {
		New(Options{}).registry.Describe(to)
		close(to)
	}()
	for d := range to {
		name := descName.FindStringSubmatch(d.String())[1]
		list[name] = true
		if strings.HasSuffix(name, "_seconds") {
			list[name+"_bucket"], list[name+"_sum"], list[name+"_count"] = true, true, true
		}
	}
	return list
}

// Every metric in the alert rules and on the dashboard exists, and every metric of ours is on one of the two or listed
// in the documentation.
func TestMetricsOfAlertsAndDashboard(t *testing.T) {
	known := names(t)
	rules := read(t, "../../ops/prometheus-rules.yml")
	var expressions []string
	for _, m := range expression.FindAllStringSubmatch(rules, -1) {
		expressions = append(expressions, m[1])
	}
	if alerts := strings.Count(rules, "- alert: "); alerts != len(expressions) || alerts < 5 {
		t.Errorf("%d alerts have %d expressions", alerts, len(expressions))
	}
	var dashboard struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	if err := json.Unmarshal([]byte(read(t, "../../ops/grafana-dashboard.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			expressions = append(expressions, target.Expr)
		}
	}
	used := map[string]bool{}
	for _, e := range expressions {
		found := metricName.FindAllString(e, -1)
		if len(found) == 0 {
			t.Errorf("%q has no metric", e)
		}
		for _, name := range found {
			used[name] = true
			if !known[name] {
				t.Errorf("%q: no process has %s", e, name)
			}
		}
	}
	if !used["heapdrift_worker_outage"] || !used["heapdrift_http_request_seconds_bucket"] {
		t.Errorf("%d metrics are used", len(used))
	}
	operations := read(t, "../../docs/operations.md")
	for name := range known {
		if strings.HasPrefix(name, "heapdrift_") && !strings.HasSuffix(name, "_bucket") && !strings.HasSuffix(name, "_sum") &&
			!strings.HasSuffix(name, "_count") && !strings.Contains(operations, name) {
			t.Errorf("docs/operations.md does not list %s", name)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
