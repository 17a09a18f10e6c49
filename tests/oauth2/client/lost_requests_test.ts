/** Caches of tokens on an edge runtime, which may cancel what other requests wait for. */
import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { ClientCredentialsCache } from "../../../src/oauth2/client/client_credentials.ts";
import { TokenCache } from "../../../src/oauth2/client/token_cache.ts";
import { TokenSet } from "../../../src/oauth2/client/token_set.ts";
import { test } from "../../support/test.ts";

const SET = new TokenSet({ accessToken: "at-2", tokenType: "bearer", refreshToken: "rt-2" });
const lost = () => new Promise<never>(() => {});

/**
 * Calls a function three times as on Cloudflare Workers, while a call that is lost is under way;
 * ends the waits of all three, then answers. Returns their results and how often it was sent.
 */
async function afterLoss<T>(
  call: (send: () => Promise<TokenSet>) => Promise<T>,
): Promise<{ readonly results: readonly T[]; readonly sent: number }> {
  const { setTimeout } = globalThis;
  const waits: (() => void)[] = [];
  // others of this process go on
  const wait = (end: () => void, ms: number) => ms > 30_000 ? waits.push(end) : setTimeout(end, ms);
  globalThis.setTimeout = wait as unknown as typeof setTimeout;
  const userAgent = { value: "Cloudflare-Workers", configurable: true };
  const own = Object.getOwnPropertyDescriptor(navigator, "userAgent"); // of Bun
  Object.defineProperty(navigator, "userAgent", userAgent);
  try {
    void call(lost);
    const { promise: answer, resolve } = Promise.withResolvers<TokenSet>();
    let sent = 0;
    const send = () => {
      sent++;
      return answer;
    };
    const calls = [1, 2, 3].map(() => call(send));
    await setImmediate();
    assert.deepEqual([waits.length, sent], [3, 0]);
    for (const end of waits.splice(0)) end();
    await setImmediate();
    resolve(SET);
    return { results: await Promise.all(calls), sent };
  } finally {
    globalThis.setTimeout = setTimeout;
    Reflect.deleteProperty(navigator, "userAgent"); // that of its prototype is back
    if (own) Object.defineProperty(navigator, "userAgent", own);
  }
}

test("requests that wait for a refresh of a TokenCache that is lost share the next one", async () => {
  const cache = new TokenCache();
  const done = await afterLoss((send) => cache.refresh("rt-1", send));
  assert.deepEqual(done, { results: [SET, SET, SET], sent: 1 });
});

test("requests that wait for a revocation of a TokenCache that is lost share the next one", async () => {
  const cache = new TokenCache();
  const done = await afterLoss((send) => cache.revoke("rt-1", async () => void await send()));
  assert.deepEqual(done, { results: Array(3).fill(undefined), sent: 1 });
});

test("requests that wait for a ClientCredentialsCache whose request is lost share the next one", async () => {
  const cache = new ClientCredentialsCache(Date.now);
  const done = await afterLoss((send) => cache.get("", send));
  assert.deepEqual(done, { results: [SET, SET, SET], sent: 1 });
});
