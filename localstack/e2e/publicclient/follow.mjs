// Follows every channel of /ws with a client library that was written for the
// venue itself, and prints what the library passes to its users: a line of JSON
// each. Commands come in, a line each:
//
//	url URL              the answer to "url": a signature is good for one connection
//	unsubscribe CHANNEL
//	drop                 cut the connection; the library connects and subscribes again
//	refuse               subscribe to what the service refuses
//
// The settings are the first argument, as JSON: coin and other, two coins; user;
// and clock, by which every interval of the library is divided, so that its
// heartbeat fits the idle limit of the stack as it fits the real one.
import { createInterface } from "node:readline";

const { coin, other, user, clock } = JSON.parse(process.argv[2]);
const realInterval = globalThis.setInterval;
globalThis.setInterval = (call, ms, ...rest) => realInterval(call, ms / clock, ...rest);

const { SubscriptionClient, WebSocketTransport } = await import("@nktkas/hyperliquid");

const print = (line) => console.log(JSON.stringify(line));
let connectTo;
const transport = new WebSocketTransport({
  url: () => new Promise((resolve) => {
    connectTo = resolve;
    print({ did: "url" });
  }),
});
transport.socket.addEventListener("open", () => print({ did: "open" }));
transport.socket.addEventListener("close", () => print({ did: "close" }));
transport.socket.addEventListener("message", ({ data }) => {
  if (JSON.parse(data).channel === "pong") print({ did: "pong" });
});

const client = new SubscriptionClient({ transport });
const wanted = {
  l2Book: ["l2Book", { coin }],
  rounded: ["l2Book", { coin: other, nSigFigs: 3 }],
  trades: ["trades", { coin }],
  bbo: ["bbo", { coin }],
  candle: ["candle", { coin, interval: "1m" }],
  userFills: ["userFills", { user }],
  userNonFundingLedgerUpdates: ["userNonFundingLedgerUpdates", { user }],
  openOrders: ["openOrders", { user }],
  clearinghouseState: ["clearinghouseState", { user }],
};
const subscriptions = {};
for (const [name, [channel, parameters]] of Object.entries(wanted)) {
  client[channel](parameters, (data) => print({ channel: name, data })).then(
    (subscription) => {
      subscriptions[name] = subscription;
      print({ did: "subscribe " + name });
    },
    (error) => print({ did: "fail " + name, error: error.message }),
  );
}

const commands = {
  url: (url) => connectTo(url),
  unsubscribe: (name) => subscriptions[name].unsubscribe(),
  drop: () => transport.socket.close(4000, "", false),
  refuse: () =>
    transport.subscribe("candle", { type: "candle", coin, interval: "7m" }, () => {})
      .catch((error) => print({ did: "refused", error: error.message })),
};
for await (const line of createInterface({ input: process.stdin })) {
  const [command, argument] = line.split(" ");
  Promise.resolve(commands[command](argument)).then(
    () => command === "url" || print({ did: line }),
    (error) => print({ did: "fail " + line, error: error.message }),
  );
}
await transport.close();
