// Has the SubscriptionClient of @nktkas/hyperliquid subscribe to all that it can, which it finds by
// itself: what comes of a subscription is its first event, or the error frame that names it.
import { SubscriptionClient, WebSocketTransport } from "@nktkas/hyperliquid";
import WebSocket from "ws";
import { called, feed } from "./sign.mjs";

let refused; // the newest error frame
globalThis.WebSocket = class extends WebSocket {
  constructor(url, protocols) {
    super(url, protocols);
    this.on("message", (data) => {
      const frame = JSON.parse(String(data));
      if (frame.error || frame.channel === "error") refused?.(frame.error ?? frame.data);
    });
  }
};

const client = new SubscriptionClient({ transport: new WebSocketTransport({ url: feed(), timeout: 5000, resubscribe: false }) });
const user = process.env.ACCOUNT;
const members = { user, coin: "BTC", interval: "1m" };
// What happens rarely: a subscription that is taken is enough.
const rare = new Set(["userEvents", "orderUpdates", "notification"]);

const methods = Object.getOwnPropertyNames(SubscriptionClient.prototype).filter((name) => name !== "constructor" && typeof client[name] === "function");
for (const name of methods.sort()) {
  await called(name, async () => {
    let first;
    const event = new Promise((resolve) => (first = resolve));
    const error = new Promise((_, reject) => (refused = (text) => reject(new Error(`refused: ${text}`))));
    error.catch(() => {});
    const begun = client[name].length === 1 && name !== "allMids" ? client[name](first) : client[name](name === "activeSpotAssetCtx" ? { coin: process.env.SPOT } : members, first);
    begun.catch(() => {});
    const subscription = await Promise.race([begun, error]);
    const waited = new Promise((resolve) => setTimeout(() => resolve(rare.has(name) ? {} : undefined), rare.has(name) ? 2000 : 20000));
    const result = await Promise.race([event, error, waited]);
    await subscription.unsubscribe().catch(() => {});
    if (result === undefined) throw new Error("no event came");
    return result;
  });
}
process.exit(0);
