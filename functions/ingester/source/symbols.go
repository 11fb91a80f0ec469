package source

const (
	// MostSymbols is of how many symbols a connection remembers something at most: several
	// times as many as a market has. What is pushed of others is not remembered.
	MostSymbols = 5000

	// LongestSymbol is how long a symbol is at most that is remembered, in bytes.
	LongestSymbol = 64
)
