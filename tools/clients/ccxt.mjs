// Calls every read method that ccxt's hyperliquid says it has.
import ccxt from "ccxt";
import { api, called, signedFetch } from "./sign.mjs";

const exchange = new ccxt.hyperliquid({ walletAddress: process.env.ACCOUNT, enableRateLimit: false });
exchange.urls.api.public = api.replace(/\/$/, "");
exchange.fetchImplementation = (address, init) => signedFetch(address, init);
exchange.options.fetchMarkets = { types: ["spot", "swap"] };

const symbol = "BTC/USDC:USDC";
const [newest] = await exchange.publicPostInfo({ type: "historicalOrders", user: process.env.ACCOUNT });
const since = Number(process.env.SINCE);
const parameters = {
  fetchOrder: [String(newest.order.oid)], fetchOHLCV: [symbol, "1h", since, 100], fetchFundingRateHistory: [symbol, since], fetchTrades: [symbol],
  fetchMyTrades: [symbol, since], fetchOrderBook: [symbol], fetchL2OrderBook: [symbol], fetchTicker: [symbol], fetchOpenInterest: [symbol], fetchFundingRate: [symbol],
  fetchTradingFee: [symbol], fetchPosition: [symbol], fetchFundingHistory: [symbol, since], fetchLedger: ["USDC", since], fetchDeposits: ["USDC", since],
  fetchWithdrawals: ["USDC", since], fetchBalance: [{ type: "swap" }],
};
const methods = Object.keys(exchange.has).filter((name) => name.startsWith("fetch") && exchange.has[name] === true);
await called("loadMarkets", () => exchange.loadMarkets());
for (const name of methods.sort()) {
  await called(name, () => exchange[name](...(parameters[name] ?? [])));
}
await exchange.close?.();
