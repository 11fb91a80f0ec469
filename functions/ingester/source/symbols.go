package source

// MostSymbols is of how many symbols a connection remembers something at most: several
// times as many as a market has. What is pushed of others is not remembered.
const MostSymbols = 5000
