// Package duckdb tests with DuckDB that engines which are not ours read what the ingester writes as
// Parquet, the archive and tables of traders, and that they answer as ours do. It
// is a module of its own, as DuckDB is a C++ library: where there is no C compiler the
// tests are left out. Run them with make test-duckdb.
package duckdb
