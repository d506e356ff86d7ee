// Command say prints what the package knows of the program that it is in. A test builds it with a stamp.
package main

import (
	"encoding/json"
	"os"

	"heapdrift/internal/build"
)

func main() {
	if err := json.NewEncoder(os.Stdout).Encode(build.Current()); err != nil {
		panic(err)
	}
}
