package market

// Percentages of an [Activity]. They are 0 to 100 and nil where there is nothing to
// divide by.

var hundred = count(100)

// ProfitLossRatio is the average profit of a fill that made one over the average loss
// of one that lost, by closedPnl, fees apart. It is nil without a loss.
func (a *Activity) ProfitLossRatio() *float64 {
	if a.Losses == 0 {
		return nil
	}
	if a.Wins == 0 {
		return new(float64)
	}
	return Ratio(a.Profit.Mul(count(a.Losses)), a.Loss.Mul(count(a.Wins)))
}

// TakeProfitStopShare is the share of filled reduce-only orders that took a profit or
// stopped a loss.
func (a *Activity) TakeProfitStopShare() *float64 {
	return Ratio(hundred.Mul(count(a.TakeProfitStop)), count(a.ReduceOnly))
}

// FeeToDeposits is what was paid as fees over what was deposited on an average one of
// a number of days, at most 100. It is nil without a deposit.
func (a *Activity) FeeToDeposits(days int64) *float64 {
	r := Ratio(hundred.Mul(a.Fee).Mul(count(days)), a.Deposits)
	if r != nil {
		*r = min(max(*r, 0), 100)
	}
	return r
}

// ActiveShare is the share of a number of days that had a fill.
func (a *Activity) ActiveShare(days int64) float64 {
	return *Ratio(hundred.Mul(count(a.Active)), count(days))
}

// ProfitableAddOnShare is the share of add-ons that were made while the position was
// in profit.
func (a *Activity) ProfitableAddOnShare() *float64 {
	return Ratio(hundred.Mul(count(a.ProfitableAddOns)), count(a.AddOns))
}
