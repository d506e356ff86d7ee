// No dependencies, so that make test works on a fresh machine before anything was downloaded.
module heapdrift/tools/testsummary

go 1.26
