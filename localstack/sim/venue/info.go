package venue

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"quotary/localstack/sim"
)

// Handler serves POST /info, GET /ws, GET /healthz and the truth endpoints GET
// /truth/accounts?address= and GET /truth/coins. Every response says that it
// is simulated.
func (v *Venue) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /info", v.serveInfo)
	mux.HandleFunc("GET /ws", v.hub.serve)
	mux.HandleFunc("GET /healthz", v.serveHealth)
	mux.HandleFunc("GET /truth/accounts", v.serveTruthAccounts)
	mux.HandleFunc("GET /truth/coins", v.serveTruthCoins)
	return sim.Label(mux)
}

func (v *Venue) serveHealth(w http.ResponseWriter, _ *http.Request) {
	v.mu.Lock()
	b := object(nil).bool("simulated", true).int("block", v.eng.Block).int("time", v.eng.ms()).end()
	v.mu.Unlock()
	writeJSON(w, http.StatusOK, b)
}

// infoRequest is the union of all /info bodies.
type infoRequest struct {
	Type            string          `json:"type"`
	User            string          `json:"user"`
	VaultAddress    string          `json:"vaultAddress"`
	Coin            string          `json:"coin"`
	Dex             *string         `json:"dex"`
	StartTime       *int64          `json:"startTime"`
	EndTime         *int64          `json:"endTime"`
	AggregateByTime bool            `json:"aggregateByTime"`
	NSigFigs        *int            `json:"nSigFigs"`
	Mantissa        *int            `json:"mantissa"`
	Oid             json.RawMessage `json:"oid"`
	Req             *struct {
		Coin      string `json:"coin"`
		Interval  string `json:"interval"`
		StartTime *int64 `json:"startTime"`
		EndTime   *int64 `json:"endTime"`
	} `json:"req"`
}

// The answers to bad requests, as the venue words them.
var (
	errShape   = errors.New("Failed to deserialize the JSON body into the target type") //nolint:staticcheck // the venue's text
	errSyntax  = errors.New("Failed to parse the request body as JSON")                 //nolint:staticcheck // the venue's text
	errFailing = errors.New("Internal Server Error")                                    //nolint:staticcheck // the venue's text
	errOften   = errors.New("Too Many Requests")                                        //nolint:staticcheck // the venue's text
	errUnknown = errors.New("null")                                                     // a coin or dex that is not there
)

const maxInfoBody = 64 << 10

func (v *Venue) serveInfo(w http.ResponseWriter, r *http.Request) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		http.Error(w, "Expected request with `Content-Type: application/json`", http.StatusUnsupportedMediaType)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxInfoBody))
	if err != nil {
		http.Error(w, "Failed to buffer the request body: length limit exceeded", http.StatusRequestEntityTooLarge)
		return
	}
	answer, err := v.info(body)
	switch {
	case errors.Is(err, errSyntax):
		http.Error(w, err.Error(), http.StatusBadRequest)
	case errors.Is(err, errOften):
		http.Error(w, err.Error(), http.StatusTooManyRequests)
	case errors.Is(err, errFailing):
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case errors.Is(err, errUnknown):
		writeJSON(w, http.StatusInternalServerError, []byte("null"))
	case err != nil:
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
	default:
		writeJSON(w, http.StatusOK, answer)
	}
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body) //nolint:errcheck // the client is gone
}

// info answers one /info body.
func (v *Venue) info(body []byte) ([]byte, error) {
	if !json.Valid(body) {
		return nil, errSyntax
	}
	var r infoRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, errShape
	}
	answer, ok := infoTypes[r.Type]
	if !ok {
		return nil, errShape
	}
	if r.User != "" && !addressForm.MatchString(r.User) {
		return nil, errShape
	}
	r.User = strings.ToLower(r.User)
	if !v.meter.spend(v.cfg.Clock(), weightOf(r.Type)) {
		return nil, errOften
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.fails(r) {
		return nil, errFailing
	}
	b, err := answer(v.eng, &r)
	v.meter.spend(v.cfg.Clock(), weightOfRows(r.Type, b))
	return b, err
}

// fails reports whether a request asks for what a failing dex does not answer.
func (v *Venue) fails(r infoRequest) bool {
	if name, _, of := strings.Cut(r.Coin, ":"); of && r.Dex == nil {
		r.Dex = &name
	}
	d, err := v.eng.dexIndex(&r)
	if err != nil || d == 0 {
		return false
	}
	if v.failing[v.eng.dexes[d].name] {
		return true
	}
	const hour = 3_600_000
	lasts := v.cfg.DexFails.Milliseconds()
	begins := int64(mix64(v.eng.Seed^0x6661696c) % uint64(hour-lasts+1))
	since := v.eng.ms()%hour - begins
	return d == len(v.eng.dexes)-1 && since >= 0 && since < lasts
}

// FailDex lets a builder's dex answer whatever is asked of it, or of one of its coins, by 500
// until it is called again with false.
func (v *Venue) FailDex(name string, failing bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.failing[name] = failing
}

var addressForm = regexp.MustCompile(`^0x[0-9a-fA-F]{40}$`)

// infoTypes are the served request types.
var infoTypes = map[string]func(*engine, *infoRequest) ([]byte, error){
	"allMids":                     infoAllMids,
	"meta":                        infoMeta,
	"spotMeta":                    infoSpotMeta,
	"metaAndAssetCtxs":            infoMetaAndAssetCtxs,
	"spotMetaAndAssetCtxs":        infoSpotMetaAndAssetCtxs,
	"perpDexs":                    infoPerpDexs,
	"l2Book":                      infoL2Book,
	"candleSnapshot":              infoCandles,
	"recentTrades":                infoRecentTrades,
	"fundingHistory":              infoFundingHistory,
	"predictedFundings":           infoPredictedFundings,
	"clearinghouseState":          withUser(infoClearinghouse),
	"spotClearinghouseState":      withUser(infoSpotClearinghouse),
	"openOrders":                  withUser(infoOpenOrders),
	"frontendOpenOrders":          withUser(infoFrontendOpenOrders),
	"orderStatus":                 withUser(infoOrderStatus),
	"historicalOrders":            withUser(infoHistoricalOrders),
	"userFills":                   withUser(infoUserFills),
	"userFillsByTime":             withUser(infoUserFillsByTime),
	"userTwapSliceFills":          withUser(infoTwapSliceFills),
	"twapHistory":                 withUser(infoTwapHistory),
	"userFunding":                 withUser(infoUserFunding),
	"userNonFundingLedgerUpdates": withUser(infoLedger),
	"userFees":                    withUser(infoUserFees),
	"userRateLimit":               withUser(infoRateLimit),
	"userAbstraction":             withUser(infoUserAbstraction),
	"userRole":                    withUser(infoUserRole),
	"portfolio":                   withUser(infoPortfolio),
	"vaultSummaries":              infoVaultSummaries,
	"vaultDetails":                infoVaultDetails,
	"leadingVaults":               withUser(infoLeadingVaults),
	"activeAssetData":             withUser(infoActiveAssetData),
	"webData2":                    withUser(infoWebData2),
}

// withUser resolves the user; one that never traded is an empty account (-1).
func withUser(fn func(*engine, *infoRequest, int) ([]byte, error)) func(*engine, *infoRequest) ([]byte, error) {
	return func(e *engine, r *infoRequest) ([]byte, error) {
		if r.User == "" {
			return nil, errShape
		}
		return fn(e, r, e.userIndex(r.User))
	}
}

// userIndex finds a trader by lower-case address, -1 when there is none.
func (e *engine) userIndex(addr string) int {
	if u, ok := e.byAddr[addr]; ok {
		return u
	}
	return -1
}

// account returns a trader's books, empty ones for a stranger.
func (e *engine) account(u int) *account {
	if u < 0 {
		return &account{Pos: make([]position, e.perps), Tok: make([]int64, len(e.tokens)), TokCost: make([]int64, len(e.tokens))}
	}
	return &e.Acc[u]
}

// coinIndex finds a market by its name on the wire.
func (e *engine) coinIndex(name string) (int, error) {
	if c, ok := e.byName[name]; ok {
		return c, nil
	}
	return 0, errUnknown
}

// dexIndex finds the dex of a request, the main one by default.
func (e *engine) dexIndex(r *infoRequest) (int, error) {
	if r.Dex == nil {
		return 0, nil
	}
	for i, d := range e.dexes {
		if d.name == *r.Dex {
			return i, nil
		}
	}
	return 0, errUnknown
}

// list joins the elements of an array, each appended by fn.
func list[T any](b []byte, items []T, fn func([]byte, *T) []byte) []byte {
	b = append(b, '[')
	for i := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = fn(b, &items[i])
	}
	return append(b, ']')
}

// writeValue answers with a value in the venue's own, not the protocol's, form.
func writeValue(w http.ResponseWriter, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	writeJSON(w, http.StatusOK, b)
}
