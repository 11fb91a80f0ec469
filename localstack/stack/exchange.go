package stack

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"quotary/localstack/sim/binance"
	"quotary/localstack/sim/bybit"
	"quotary/localstack/sim/okx"
	"quotary/shared/catalog"
)

// What the ingesters follow of the simulated exchanges: little of the past in minutes,
// as the engine takes some two thousand rows a second, and open K-lines as they change.
const (
	exchangeCoins     = "BTC,ETH,SOL"
	exchangeBooks     = "BTC,ETH"
	exchangeMinutes   = 1
	exchangeContracts = 8 // a ratio is of a week ago
	exchangeRefresh   = "1s"
)

// startExchange runs the simulated exchanges, which began to trade as long ago as the
// venue has history, and has the ingesters follow them.
func (s *Stack) startExchange(context.Context) error {
	if !s.simulated() {
		return nil
	}
	since := time.Now().Add(-time.Duration(max(2, s.cfg.History)) * 24 * time.Hour)
	s.Exchange = binance.New(binance.Config{Seed: s.cfg.Seed, Since: since})
	s.OKX = okx.New(okx.Config{Seed: s.cfg.Seed, Since: since})
	s.Bybit = bybit.New(bybit.Config{Seed: s.cfg.Seed, Since: since})
	var err error
	if s.State.BinanceURL, err = s.serveExchange(offsetExchange, s.Exchange.Handler(), s.Exchange.Disconnect); err != nil {
		return err
	}
	if s.State.OKXURL, err = s.serveExchange(offsetOKX, s.OKX.Handler(), s.OKX.Disconnect); err != nil {
		return err
	}
	if s.State.BybitURL, err = s.serveExchange(offsetBybit, s.Bybit.Handler(), s.Bybit.Disconnect); err != nil {
		return err
	}
	s.cfg.IngesterEnv = append([]string{
		catalog.EnvExchanges.Name + "=binance,okx,bybit", catalog.EnvExchangeCoins.Name + "=" + exchangeCoins,
		catalog.EnvExchangeBooks.Name + "=" + exchangeBooks,
		catalog.EnvBinanceURL.Name + "=" + s.State.BinanceURL, catalog.EnvOKXURL.Name + "=" + s.State.OKXURL, catalog.EnvBybitURL.Name + "=" + s.State.BybitURL,
		catalog.EnvExchangeMinutes.Name + "=" + strconv.Itoa(exchangeMinutes), catalog.EnvExchangeRefresh.Name + "=" + exchangeRefresh,
		catalog.EnvExchangeContracts.Name + "=" + strconv.Itoa(exchangeContracts),
	}, s.cfg.IngesterEnv...)
	return nil
}

// serveExchange serves an exchange at the offset of its port, and returns its address. A
// server does not wait for WebSockets: they are disconnected when the stack stops.
func (s *Stack) serveExchange(offset int, handler http.Handler, disconnect func()) (url string, err error) {
	listener, err := s.listen(offset)
	if err != nil {
		return "", err
	}
	s.serve(listener, handler)
	s.onStop(func(context.Context) error {
		disconnect()
		return nil
	})
	return "http://" + listener.Addr().String(), nil
}
