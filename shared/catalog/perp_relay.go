package catalog

import "strings"

// relayed is a type of question that the venue itself is asked: what it alone knows.
func relayed(name string, weight int, about string, members ...string) Variant {
	v := Variant{Name: name, Weight: weight, About: about + " The exchange itself is asked, within what the deployment may ask it."}
	for _, member := range members {
		if optional, is := strings.CutSuffix(member, "?"); is {
			v.Takes = append(v.Takes, optional)
		} else {
			v.Needs = append(v.Needs, member)
		}
	}
	return v
}

// What the venue counts a question by:
// https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits
const (
	weighsLittle = 2
	weighsUsual  = 20
	weighsRole   = 60
)

// relayedTypes are what today's clients of the venue ask, and is not derived here.
var relayedTypes = []Variant{
	relayed("alignedQuoteTokenInfo", weighsUsual, "What the exchange says of an aligned quote token.", "token"),
	relayed("allBorrowLendReserveStates", weighsUsual, "The reserves of all tokens that can be borrowed and lent: a list of [token, state]."),
	relayed("allPerpMetas", weighsUsual, "What meta answers, of every dex: a list."),
	relayed("approvedBuilders", weighsUsual, "The builders that an account has approved: a list of addresses.", "user"),
	relayed("borrowLendReserveState", weighsUsual, "The reserve of a token that can be borrowed and lent.", "token"),
	relayed("borrowLendUserState", weighsUsual, "What an account has borrowed and lent, by token.", "user"),
	relayed("delegations", weighsUsual, "What an account has delegated to validators: a list of {validator, amount, lockedUntilTimestamp}.", "user"),
	relayed("delegatorHistory", weighsUsual, "What an account did with its stake, newest first: a list of {time, hash, delta}.", "user"),
	relayed("delegatorRewards", weighsUsual, "The rewards of an account's stake, newest first: a list of {time, source, totalAmount}.", "user"),
	relayed("delegatorSummary", weighsUsual, "The stake of an account: {delegated, undelegated, totalPendingWithdrawal, nPendingWithdrawals}.", "user"),
	relayed("exchangeStatus", weighsLittle, "Whether the exchange works: {time, specialStatuses}."),
	relayed("extraAgents", weighsUsual, "The named agents of an account: a list of {name, address, validUntil}.", "user"),
	relayed("gossipRootIps", weighsUsual, "The addresses of nodes that others begin with: a list."),
	relayed("isVip", weighsUsual, "Whether an account is a VIP: true, false or null.", "user"),
	relayed("leadingVaults", weighsUsual, "The vaults that an account leads: a list of {address, name}.", "user"),
	relayed("liquidatable", weighsUsual, "The accounts that can be liquidated now: a list."),
	relayed("marginTable", weighsUsual, "A table of margin tiers by its number, as meta names them.", "id"),
	relayed("maxBuilderFee", weighsUsual, "The highest fee that an account allows a builder, in tenths of a basis point: a number.", "user", "builder"),
	relayed("maxMarketOrderNtls", weighsUsual, "The largest market orders by leverage: a list of [leverage, notional]."),
	relayed("outcomeMeta", weighsUsual, "What the outcome markets are."),
	relayed("perpAnnotation", weighsUsual, "What the exchange says in words of a perpetual.", "coin"),
	relayed("perpCategories", weighsUsual, "The categories of perpetuals: a list of [coin, category]."),
	relayed("perpConciseAnnotations", weighsUsual, "What the exchange says in short of perpetuals."),
	relayed("perpDeployAuctionStatus", weighsUsual, "The auction of the right to list a perpetual: {startTimeSeconds, durationSeconds, startGas, currentGas, endGas}."),
	relayed("perpDexLimits", weighsUsual, "The limits of a builder's dex: {totalOiCap, oiSzCapPerPerp, maxTransferNtl, coinToOiCap}.", "dex"),
	relayed("perpDexStatus", weighsUsual, "The state of a builder's dex: {totalNetDeposit}.", "dex"),
	relayed("perpsAtOpenInterestCap", weighsUsual, "The perpetuals whose open interest is at its cap: a list of coins.", "dex?"),
	relayed("preTransferCheck", weighsUsual, "What a transfer to an account would cost.", "user", "source"),
	relayed("predictedFundings", weighsUsual, "The funding rates that are expected, here and on other venues: a list of [coin, [[venue, {fundingRate, nextFundingTime}]]]."),
	relayed("referral", weighsUsual, "Who referred an account, whom it referred and what it earned so.", "user"),
	relayed("spotDeployState", weighsUsual, "The listing of spot tokens by an account, and the auction of the right to it.", "user"),
	relayed("spotPairDeployAuctionStatus", weighsUsual, "The auction of the right to list a spot pair."),
	relayed("subAccounts", weighsUsual, "The sub-accounts of an account with their states, null where it has none.", "user"),
	relayed("subAccounts2", weighsUsual, "The sub-accounts of an account with their states in every dex, null where it has none.", "user"),
	relayed("tokenDetails", weighsUsual, "A spot token by its id: supply, prices, genesis.", "tokenId"),
	relayed("userAbstraction", weighsUsual, "The mode of an account: default, disabled, unifiedAccount, portfolioMargin or dexAbstraction.", "user"),
	relayed("userBorrowLendInterest", weighsUsual, "The interest that an account paid and received in a span.", "user", "startTime", "endTime?"),
	relayed("userDexAbstraction", weighsUsual, "Whether an account has dex abstraction: true, false or null.", "user"),
	relayed("userRateLimit", weighsUsual, "The requests that an account may make: {cumVlm, nRequestsUsed, nRequestsCap, nRequestsSurplus}.", "user"),
	relayed("userRole", weighsRole, "What an address is: {role} of missing, user, agent, vault or subAccount, with what belongs to it.", "user"),
	relayed("userToMultiSigSigners", weighsUsual, "The signers of a multi-signature account, null of any other.", "user"),
	relayed("userTwapSliceFillsByTime", weighsUsual, "The fills that TWAPs of an account have made in a span.", "user", "startTime", "endTime?", "aggregateByTime?"),
	relayed("userVaultEquities", weighsUsual, "What an account has in vaults: a list of {vaultAddress, equity, lockedUntilTimestamp}.", "user"),
	relayed("validatorL1Votes", weighsUsual, "What validators vote on."),
	relayed("validatorSummaries", weighsUsual, "The validators: a list."),
	relayed("vaultDetails", weighsUsual, "A vault: its leader, followers, portfolio and terms, with what an account has in it.", "vaultAddress", "user?"),
	relayed("vaultSummaries", weighsUsual, "Vaults in short: a list of {name, vaultAddress, leader, tvl, isClosed, relationship, createTimeMillis}."),
}
