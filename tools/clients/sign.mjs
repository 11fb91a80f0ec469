// How a client of the venue is made one of the product: its addresses, and a hook that signs them.
import { createHmac, randomBytes } from "node:crypto";

const { BASE, FEED, ACCESS_KEY, SECRET_KEY } = process.env;

// api is where the venue's POST /info is, and feed its WebSocket.
export const api = BASE;
export const feed = () => signed(FEED);

// signed is an address with the signature of a key, or as it is where there is no key.
export function signed(address) {
  if (!ACCESS_KEY) return address;
  const nonce = randomBytes(8).toString("hex");
  const time = String(Math.floor(Date.now() / 1000));
  const text = `AccessKeyId=${ACCESS_KEY}&SignatureNonce=${nonce}&Timestamp=${time}`;
  const hex = createHmac("sha1", SECRET_KEY).update(text).digest("hex");
  const url = new URL(address);
  url.search = `${text}&Signature=${encodeURIComponent(Buffer.from(hex).toString("base64"))}`;
  return String(url);
}

// signedFetch is fetch with the signature added to the address, also where it takes the place of fetch.
const plain = globalThis.fetch;
export const signedFetch = (address, init) => plain(signed(address), init);

// called calls one method and prints what came of it, as a line.
export async function called(method, call) {
  const line = { method };
  try {
    line.result = (await call()) ?? null;
  } catch (error) {
    line.error = String(error?.message ?? error).slice(0, 300);
  }
  console.log(JSON.stringify(line));
}
