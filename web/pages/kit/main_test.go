package kit_test

import (
	"testing"

	"heapdrift/web/pages/pagestest"
)

func TestMain(m *testing.M) { pagestest.Main(m) }
