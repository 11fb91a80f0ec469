package catalog

import "strings"

// Program is the path of a function's program below the folder of built programs,
// and that of its source below functions/: "perp/market" for "perp-market".
func Program(function string) string { return strings.ReplaceAll(function, "-", "/") }
