package stack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"quotary/localstack/client"
	"quotary/localstack/sim"
	"quotary/localstack/sim/coinsite"
	"quotary/localstack/sim/indexsite"
	"quotary/shared/catalog"
)

// namesDrop is the drop of names that a new stack begins with.
const namesDrop = "drop/coins/simulated-names.ndjson"

// startCoins runs the simulated source of prices of coins and of exchange rates, and at
// the same address that of indexes and daily prices, has the ingesters ask them, and drops the names of some coins.
func (s *Stack) startCoins(ctx context.Context) error {
	s.cfg.IngesterEnv = append([]string{catalog.EnvDropsEvery.Name + "=1s", catalog.EnvTradersEvery.Name + "=30s"}, s.cfg.IngesterEnv...)
	if !s.simulated() {
		return nil
	}
	s.Coins = coinsite.New(sim.Config{Seed: s.cfg.Seed}, s.Venue.MarksAt)
	listener, err := s.listen(offsetCoins)
	if err != nil {
		return err
	}
	s.State.CoinsURL = "http://" + listener.Addr().String()
	site := http.NewServeMux()
	site.Handle("/", s.Coins.Handler())
	site.Handle("/indices/", indexsite.New(sim.Config{Seed: s.cfg.Seed}).Handler())
	s.serve(listener, site)
	indices, err := indexEnv(s.State.CoinsURL)
	if err != nil {
		return err
	}
	s.cfg.IngesterEnv = append(append(indices,
		catalog.EnvCoinGeckoURL.Name+"="+s.State.CoinsURL+"/api/v3", catalog.EnvCoinGeckoPages.Name+"=2", catalog.EnvCoinGeckoEvery.Name+"=6s",
		catalog.EnvRatesURL.Name+"="+s.State.CoinsURL+"/rates",
	), s.cfg.IngesterEnv...)
	return s.drop(ctx, namesDrop, coinsite.Names)
}

// drop puts a drop into the bucket. One that has the same content is known to the
// ingester and not taken again.
func (s *Stack) drop(ctx context.Context, key string, body []byte) error {
	return s.put(ctx, viewsBucket+"/"+key, body)
}

// put puts an object into a bucket, or makes a bucket. Statuses beside 200 are accepted where they are named.
func (s *Stack) put(ctx context.Context, path string, body []byte, others ...int) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, s.State.S3+"/"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK && !slices.Contains(others, res.StatusCode) {
		return fmt.Errorf("put %s: status %d", path, res.StatusCode)
	}
	return nil
}

// awaitPrices returns when the price of bitcoin is answered, by which clients check
// a key.
func (s *Stack) awaitPrices(ctx context.Context) error {
	if s.Coins == nil {
		return nil
	}
	ctx, done := context.WithTimeout(ctx, startWithin)
	defer done()
	api := client.Client{BaseURL: s.State.BaseURL}
	for {
		answer, err := api.Get(ctx, s.State.Demo.SubKey, "/v2/coin/ticker", url.Values{"coin_list": {"bitcoin"}})
		var tickers []struct {
			Price string `json:"price_usd"`
		}
		switch {
		case ctx.Err() != nil:
			return errors.New("the price of bitcoin is not answered: see the logs of the ingester")
		case err == nil && answer.Status == http.StatusOK && answer.Data(&tickers) == nil && len(tickers) == 1 && tickers[0].Price != "":
			return nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}
