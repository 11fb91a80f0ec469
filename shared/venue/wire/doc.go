// Package wire reads and writes the JSON of the venue Hyperliquid: the lines that
// its nodes write and the answers and frames of its public API. It does no input
// or output. What it reads it checks, so that the domain's types never hold
// what cannot be; what it writes is what the venue writes for the same value, byte
// by byte where the order of keys is known.
//
// The adapters of the package hyperliquid read with it. Endpoints and feeds that
// promise the venue's own shape write with it.
package wire
