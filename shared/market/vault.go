package market

// Vault is an account of the venue that one account leads with the money of others, as the venue tells
// of it.
type Vault struct {
	Address string // in lower case
	Leader  string // in lower case; "" where the venue knows no vault of the address
	Name    string // on one line, of at most [MostVaultName] characters
	Created int64  // ms; 0 where that is not told
	Closed  bool
}

// MostVaultName is how many characters of the name of a vault are kept.
const MostVaultName = 100

// Vaults are what the venue told of some vaults at one time.
type Vaults struct {
	Time   int64 // ms
	Vaults []Vault
}
