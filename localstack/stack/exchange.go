package stack

import (
	"context"
	"strconv"
	"time"

	"quotary/localstack/binance"
	"quotary/shared/catalog"
)

// What the ingesters follow of the simulated exchange: little of the past in minutes,
// as the engine takes some two thousand rows a second, and open K-lines as they change.
const (
	exchangeCoins   = "BTC,ETH,SOL"
	exchangeMinutes = 1
	exchangeRefresh = "1s"
)

// startExchange runs the simulated exchange, which began to trade as long ago as the
// venue has history, and has the ingesters follow it.
func (s *Stack) startExchange(context.Context) error {
	if s.cfg.Upstream != "" && s.cfg.Upstream != "simulated" {
		return nil
	}
	history := time.Duration(max(2, s.cfg.History)) * 24 * time.Hour
	s.Exchange = binance.New(binance.Config{Seed: s.cfg.Seed, Since: time.Now().Add(-history)})
	listener, err := s.listen(offsetExchange)
	if err != nil {
		return err
	}
	s.State.BinanceURL = "http://" + listener.Addr().String()
	s.serve(listener, s.Exchange.Handler())
	s.onStop(func(context.Context) error {
		s.Exchange.Disconnect() // the server does not wait for WebSockets
		return nil
	})
	s.cfg.IngesterEnv = append([]string{
		catalog.EnvExchanges.Name + "=binance", catalog.EnvBinanceURL.Name + "=" + s.State.BinanceURL, catalog.EnvExchangeCoins.Name + "=" + exchangeCoins,
		catalog.EnvExchangeMinutes.Name + "=" + strconv.Itoa(exchangeMinutes), catalog.EnvExchangeRefresh.Name + "=" + exchangeRefresh,
	}, s.cfg.IngesterEnv...)
	return nil
}
