package venue

// payFunding settles the hour: rate = (premium + clamp(interest - premium,
// ±5 bp)) / 8 of the average sampled premium, at most 4%, times the size and
// the oracle price. Longs pay a positive rate. Each payment is rounded half
// away from zero to a millionth of a USDC; what that leaves over is kept as
// FundingResidue (less than half a millionth per position).
// Formula: https://hyperliquid.gitbook.io/hyperliquid-docs/trading/funding
func (e *engine) payFunding() {
	e.tx = 0
	for c := range e.perps {
		s := &e.Mk[c]
		premium := int64(0)
		if s.PremN > 0 {
			premium = s.PremSum / s.PremN
		}
		s.PremSum, s.PremN = 0, 0
		s.Rate = hourlyRate(premium)
		s.Funding = push(s.Funding, fundingPoint{Time: e.ms(), Rate: s.Rate, Premium: premium}, depthRates)
	}
	for u := range e.Acc {
		for c := range e.perps {
			if e.Acc[u].Pos[c].Szi != 0 {
				e.payOne(u, c)
			}
		}
	}
}

// hourlyRate turns an average premium (parts per 1e10) into the hourly rate.
func hourlyRate(premium int64) int64 {
	const interest, band, limit = 1_000_000, 5_000_000, 400_000_000
	eight := premium + max(-band, min(band, interest-premium))
	return max(-limit, min(limit, mulDiv(eight, 1, 8)))
}

func (e *engine) payOne(u, c int) {
	a, s := &e.Acc[u], &e.Mk[c]
	p := &a.Pos[c]
	pay := mulDiv(p.Szi*s.Oracle, s.Rate, 10_000_000_000)
	if p.Iso {
		p.Margin -= pay
	} else {
		e.credit(u, e.mk[c].Dex, -pay)
	}
	p.FundAll += pay
	p.FundOpen += pay
	p.FundChange += pay
	if t := e.dexes[e.mk[c].Dex].token; t == 0 {
		e.FundingResidue += pay
	} else {
		e.DexFees[t] += pay
	}
	rec := fundingRec{Time: e.ms(), Usdc: -pay, Szi: p.Szi, Rate: s.Rate, Coin: int16(c)}
	a.Fundings = push(a.Fundings, rec, depthFundings)
	e.out.funding(e, u, rec)
}

// sampleEquity adds a point to every portfolio history.
func (e *engine) sampleEquity() {
	for u := range e.Acc {
		a := &e.Acc[u]
		if a.Joined {
			a.Equity = push(a.Equity, e.equityNow(u), depthEquity)
		}
	}
}

// equityNow is the portfolio point of this block.
func (e *engine) equityNow(u int) equityPoint {
	a := &e.Acc[u]
	return equityPoint{Time: e.ms(), Perp: e.perpEquity(u), Spot: e.spotValue(u), InPerp: a.NetPerp,
		InAll: a.NetPerp + a.NetSpot, Vlm: a.Vlm, VlmAll: a.Vlm + a.SpotVlm/100}
}
