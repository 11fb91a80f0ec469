package venue

// mode is how an account's money backs its positions.
type mode uint8

const (
	modeDefault        mode = iota // standard: it never chose
	modeDisabled                   // standard: it chose so
	modeUnified                    // one balance per token, kept in spot
	modePortfolio                  // unified, and tokens back each other
	modeDexAbstraction             // standard, and a dex takes what it needs from the others
)

var modeNames = [...]string{"default", "disabled", "unifiedAccount", "portfolioMargin", "dexAbstraction"}

func (m mode) String() string { return modeNames[m] }

// modePattern is the mode of each trader in turn. One more has [modeDexAbstraction].
var modePattern = [...]mode{modeUnified, modeDefault, modePortfolio, modeUnified, modeDisabled, modeUnified, modeDefault,
	modeUnified}

// giveModes gives the traders their modes, the first one dexAbstraction. The vault and the
// makers are standard.
func giveModes(seed uint64, prof []profile) {
	for i := makers + 1; i < len(prof); i++ {
		p := &prof[i]
		switch {
		case p.Kind == kindDuster:
			continue
		case i == makers+1:
			p.Mode = modeDexAbstraction
			continue
		}
		p.Mode = modePattern[(uint64(i)+seed)%uint64(len(modePattern))]
		p.Fickle = p.Mode != modePortfolio && i%3 == 0
	}
}

// infoUserAbstraction answers the mode of an account; a stranger's is the default.
func infoUserAbstraction(e *engine, _ *infoRequest, u int) ([]byte, error) {
	return append(append([]byte{'"'}, e.account(u).Mode.String()...), '"'), nil
}
