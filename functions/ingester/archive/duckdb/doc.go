// Package duckdb tests with DuckDB that engines which are not ours read the archive. It
// is a module of its own, as DuckDB is a C++ library: where there is no C compiler the
// tests are left out. Run them with make test-archive.
package duckdb
