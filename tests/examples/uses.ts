/** For each example, a request that uses all its permissions. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import type { Subprocess } from "../support/subprocess.ts";

/** A running example. */
export interface RunningExample {
  readonly origin: string;
  readonly process: Subprocess;
  /** A token, for an example that verifies tokens of an identity provider. */
  readonly token: string;
}

const LISTENS = /^Try|^Open /m;

/** Sends a request after the example has printed what to try, and checks the response. */
export const USES: Readonly<Record<string, (example: RunningExample) => Promise<void>>> = {
  "examples/hello.ts": (example) => tried(example, "/api/", /Hello/),
  "examples/users.ts": async (example) => {
    await example.process.until(LISTENS);
    const response = await fetch(`${example.origin}/api/v1/users/`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: `${crypto.randomUUID()}@example.com`, name: "Tom" }),
    });
    assert.equal(response.status, 201, await response.text());
    await answers(example, "/metrics", /http_requests_total/);
  },
  "examples/oauth2.ts": async (example) => {
    await example.process.until(LISTENS);
    const token = await example.process.until(/(?<=TOKEN=)\S+/);
    await answers({ ...example, token }, "/me", /alice/);
    await answers(example, "/auth/login", /Development identity provider/);
  },
  "examples/demo.ts": (example) => tried(example, "/api/v1/demo/users-db", /Ada/),
  "examples/orders.ts": async (example) => {
    await example.process.until(LISTENS);
    const response = await fetch(`${example.origin}/api/v1/orders`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": "first" },
      body: JSON.stringify({ email: "ada@example.com", item: "tea" }),
    });
    assert.equal(response.status, 201, await response.text());
    await example.process.until(/^Sent: Dear ada@example\.com: we send you tea\.$/m);
    await answers(example, "/api/v1/orders/1", /"receipts":\[\{"text":"Dear ada/);
    // the command that it prints, whose webhook is signed
    const command = await example.process.until(/^ {2}curl .*\/payments .*$/m);
    const headers = [...command.matchAll(/-H '([\w-]+): ([^']+)'/g)].map(([, ...pair]) => pair);
    const [, body] = /--json '([^']+)'/.exec(command) ?? [];
    const paid = await fetch(`${example.origin}/api/v1/payments`, {
      method: "POST",
      headers: { "content-type": "application/json", ...Object.fromEntries(headers) },
      body: body!,
    });
    assert.equal(paid.status, 204, await paid.text());
    await answers(example, "/api/v1/orders/1", /"paid":true/);
  },
  "examples/streaming.ts": (example) => tried(example, "/countdown/1", /lift-off/),
  "examples/server_sent_events.ts": async ({ origin, process }) => {
    await process.until(LISTENS);
    const response = await fetch(`${origin}/ticks`);
    const reader = response.body?.getReader();
    const { value } = await reader?.read() ?? {};
    assert.match(new TextDecoder().decode(value), /event: tick/);
    await reader?.cancel();
  },
  "examples/web_socket.ts": async ({ origin, process }) => {
    await process.until(LISTENS);
    const socket = new WebSocket(`${origin.replace("http", "ws")}/echo`);
    const message = await new Promise((resolve, reject) => {
      socket.onmessage = ({ data }) => resolve(data);
      socket.onerror = () => reject(new Error("the socket failed"));
    });
    assert.equal(message, "welcome");
    const closed = new Promise((resolve) => socket.onclose = resolve);
    socket.close();
    await closed;
  },
  "examples/edge.ts": async (example) => {
    await untilListening(example.origin);
    await answers(example, "/api/v1/notes", /^\[\]$/);
  },
};

async function tried(example: RunningExample, path: string, pattern: RegExp): Promise<void> {
  await example.process.until(LISTENS);
  await answers(example, path, pattern);
}

async function answers(
  { origin, token }: RunningExample,
  path: string,
  pattern: RegExp,
): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${origin}${path}`, { headers });
  assert.match(await response.text(), pattern);
}

/** Waits for `deno serve`, which prints nothing. */
export async function untilListening(origin: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < 120_000; waitedMs += 20) {
    const response = await fetch(origin).catch(() => undefined);
    if (response) return await response.body?.cancel();
    await delay(20);
  }
  throw new Error(`Cannot reach ${origin}: no process listens`);
}
