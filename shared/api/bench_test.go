package api_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/api"
	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/gate/admission"
	"quotary/shared/gate/keys"
	"quotary/shared/gate/signature"
	"quotary/shared/gate/usage"
	"quotary/shared/testing/must"
)

// known is a resolver without a store: what remains is the CPU of a decision.
type known struct{ principal keys.Principal }

func (k known) Resolve(context.Context, string) (keys.Principal, error) { return k.principal, nil }

// BenchmarkAdmissionCPU measures verify, status, action and limits, the store
// excluded, including what the authorizer passes to the function.
func BenchmarkAdmissionCPU(b *testing.B) {
	w := apitest.New(b, string(catalog.PerpMarket))
	principal := must.Get(w.Keys.Resolve(b.Context(), w.SubKey.AccessKey))(b)
	gate := &admission.Gate{Keys: known{principal}, Clock: w.Now}
	params := w.Sign(w.SubKey)
	access := catalog.Access{Kind: catalog.ActionAccess, Name: "HL_TICKERS"}
	b.ReportAllocs()
	for b.Loop() {
		caller := must.Get(gate.Check(b.Context(), params, "", access))(b)
		if _, verdict, _ := admission.CallerFrom(caller.Context()); verdict != admission.VerdictCaller {
			b.Fatal("the caller was lost on the way")
		}
	}
}

// BenchmarkAdmissionThroughTheEngine adds the store: the key is read, the
// nonce recorded and the request counted.
func BenchmarkAdmissionThroughTheEngine(b *testing.B) {
	w := apitest.New(b, string(catalog.PerpMarket))
	access := catalog.Access{Kind: catalog.ActionAccess, Name: "HL_TICKERS"}
	b.ReportAllocs()
	for b.Loop() {
		caller := must.Get(w.Gate.Check(b.Context(), w.Sign(w.SubKey), "", access))(b)
		caller.MonthlyQuota = 0
		must.Get(w.Gate.Admit(b.Context(), &caller))(b)
	}
}

// instant is a table that answers at once: counting without the engine.
type instant struct{ usage.DynamoDB }

func (instant) UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return &dynamodb.UpdateItemOutput{}, nil
}

// BenchmarkFamily compares authorizer and family around a handler, stores
// excluded, with a plain net/http handler that does the same work: verifies the
// signature, reads a parameter, answers JSON.
func BenchmarkFamily(b *testing.B) {
	b.Run("family", func(b *testing.B) {
		w := apitest.New(b, string(catalog.PerpMarket))
		principal := must.Get(w.Keys.Resolve(b.Context(), w.SubKey.AccessKey))(b)
		gate := &admission.Gate{Keys: known{principal}, Counters: usage.NewCounters(instant{}, "usage", w.Now), Clock: w.Now}
		w.Family = api.New(string(catalog.PerpMarket), gate, slog.New(slog.NewJSONHandler(io.Discard, nil)))
		w.Deliver(b, catalog.Datasets()...)
		handleMarket(w)
		function := api.Lambda(w.Family, slog.New(slog.DiscardHandler))
		event := apitest.Event(b, http.MethodGet, ticker+"BTC", nil)
		params := w.Sign(w.SubKey)
		access := catalog.Access{Kind: catalog.ActionAccess, Name: "HL_TICKERS"}
		b.ReportAllocs()
		for b.Loop() {
			caller := must.Get(gate.Check(b.Context(), params, "", access))(b)
			event.RequestContext.Authorizer = caller.Context()
			if out, err := function(b.Context(), event); err != nil || out.StatusCode != http.StatusOK {
				b.Fatal(out.Body, err)
			}
		}
	})
	b.Run("net-http", func(b *testing.B) {
		secret := []byte("957f23f2d6435e37d4ac21f3e9a67d45")
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			q := r.URL.Query()
			p := signature.Params{AccessKeyID: q.Get("AccessKeyId"), Nonce: q.Get("SignatureNonce"), Timestamp: q.Get("Timestamp"), Signature: q.Get("Signature")}
			if !p.Verify(secret) {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]any{"code": "0", "msg": "success", "data": catalog.Ticker{Coin: r.PathValue("coin"), Price: "1.0"}})
		})
		sig := signature.Compute(secret, "k", "1", "1793260800")
		r := httptest.NewRequest(http.MethodGet, ticker+"BTC?AccessKeyId=k&SignatureNonce=1&Timestamp=1793260800&Signature="+sig, nil)
		b.ReportAllocs()
		for b.Loop() {
			handler.ServeHTTP(httptest.NewRecorder(), r)
		}
	})
}
