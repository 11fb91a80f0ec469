package coinsite

import _ "embed" // the names

// Names is a drop of coins of our own making: names in Chinese, and one coin that no
// source of prices lists.
//
//go:embed names.ndjson
var Names []byte
