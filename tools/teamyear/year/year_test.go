package year_test

import (
	"testing"

	"heapdrift/internal/store"
	"heapdrift/internal/testdb"
	"heapdrift/tools/leakeval/evaluation"
	"heapdrift/tools/teamyear/year"
)

func TestMain(m *testing.M) { testdb.Main(m, store.Migrate) }

// A small year of two teams: nearly all leaks fail their first builds, and no build fails for what was answered.
func TestYear(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s, err := store.Open(t.Context(), testdb.New(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	worst := &testWriter{t}
	tally, err := year.Play(t.Context(), s, year.Options{Seeds: []uint64{1, 9}, Builds: 9, Places: 30,
		Behaviours: evaluation.Tuning(), Worst: worst})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", tally)
	if tally.Large.Came == 0 || tally.Large.Three*10 < tally.Large.Came*8 {
		t.Errorf("%d of %d leaks that matter failed within three builds", tally.Large.Three, tally.Large.Came)
	}
	if quiet := tally.Quiet[0] + tally.Quiet[1] + tally.Quiet[4]; quiet == 0 || tally.Quiet[0]*10 < quiet*9 {
		t.Errorf("quiet builds end with %v", tally.Quiet)
	}
	if tally.AfterAnswer > 0 || tally.Contradicted > 0 {
		t.Errorf("%d failures after an answer, %d contradictions", tally.AfterAnswer, tally.Contradicted)
	}
	if tally.Names.Of == 0 || tally.Names.Right < tally.Names.Of || tally.Twice == 0 || tally.TwiceOther > 0 {
		t.Errorf("%+v names, of %d pushes again %d with another verdict", tally.Names, tally.Twice, tally.TwiceOther)
	}
	if before := tally.By["verdict: before the symbols"]; before == nil || before.False+before.AfterAnswer > 0 {
		t.Errorf("before the symbols: %+v", before)
	}
}

// A testWriter writes to the log of a test.
type testWriter struct{ t *testing.T }

func (w *testWriter) Write(b []byte) (int, error) {
	w.t.Log(string(b))
	return len(b), nil
}
