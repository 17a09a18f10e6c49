/** WebSockets that send much, read nothing, or break the protocol. */
import { Buffer } from "node:buffer";
import { setTimeout as delay } from "node:timers/promises";
import type { RawClient } from "../../runtime/raw_client.ts";
import type { Instance } from "../server/instance.ts";
import { connectTo, type Part, repeat, TRIES, write } from "./many.ts";

const UPGRADE = [
  "GET /socket/echo HTTP/1.1",
  "Host: x",
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
];
const [CONTINUATION, TEXT, BINARY, CLOSE, PING] = [0, 1, 2, 8, 9];
const FIN = 0x80;
const DEADLINE_MS = 60_000;

/** Messages that the client reads the echo of. */
export const webSocketFlood: Part = async ({ instance, isQuick }) => {
  const [clients, messages] = isQuick ? [4, 500] : [20, 10_000];
  const all = Buffer.concat(Array(messages).fill(frame(FIN | TEXT, "hello")));
  const failures = await repeat({ count: clients, atOnce: clients }, async () => {
    using client = await open(instance);
    void write(client, all);
    const { length } = "\x81\x05hello".repeat(messages);
    const end = performance.now() + DEADLINE_MS;
    while (client.received.length < length && performance.now() < end && !client.isClosed) {
      await delay(10);
    }
    const echoed = client.received.replaceAll("\x89\0", "").length; // Deno sends pings
    return echoed === length ? undefined : `${echoed} of ${length} bytes were echoed`;
  });
  return { injected: clients * messages, failures };
};

/** Clients that send much and read nothing, pings included. */
export const deafWebSockets: Part = async ({ instance, isQuick }) => {
  const [clients, mib] = isQuick ? [5, 8] : [20, 64];
  const chunk = Buffer.concat(Array(16).fill(frame(FIN | TEXT, "x".repeat(65_000))));
  const pings = Buffer.concat(Array(8_000).fill(frame(FIN | PING, "x".repeat(125))));
  await repeat({ count: clients, atOnce: clients }, async (n) => {
    using client = await open(instance);
    client.socket.pause();
    const end = performance.now() + DEADLINE_MS;
    for (let sent = 0; sent < mib && performance.now() < end; sent++) {
      await Promise.race([write(client, n % 2 === 0 ? chunk : pings), delay(2_000)]);
      if (client.socket.destroyed) break;
    }
    return undefined;
  });
  return { injected: clients * mib, failures: [] };
};

/** Frames that are invalid, or never end: RFC 6455 §5 and §10.4. */
export const invalidFrames: Part = async ({ instance, runtime, isQuick }) => {
  const rows: Readonly<Record<string, Buffer>> = {
    "a reserved opcode": frame(FIN | 3, "x"),
    "a reserved bit": frame(FIN | 0x40 | TEXT, "x"),
    "no mask": Buffer.from("\x81\x01x", "latin1"),
    "a fragment of a ping": frame(PING, "x"),
    "a ping of 200 bytes": frame(FIN | PING, "x".repeat(200)),
    "a continuation of nothing": frame(FIN | CONTINUATION, "x"),
    "a text within a text": Buffer.concat([frame(TEXT, "x"), frame(FIN | TEXT, "x")]),
    "a text that is no UTF-8": frame(FIN | TEXT, "\xff"),
    "a close code of one byte": frame(FIN | CLOSE, "x"),
    "a close code of 1005": frame(FIN | CLOSE, "\x03\xed"),
    "a length of 2^63": Buffer.from("\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0", "latin1"),
    "a length of 1 GiB": Buffer.from("\x82\xff\0\0\0\0\x40\0\0\0\0\0\0\0", "latin1"),
  };
  const never = new Set(["a length of 1 GiB"]); // may wait for the rest
  const all = Array(isQuick ? 1 : 20).fill(Object.entries(rows)).flat() as [string, Buffer][];
  const failures = await repeat({ count: all.length, atOnce: 8 }, async (n) => {
    const [what, bytes] = all[n] ?? ["", Buffer.alloc(0)];
    using client = await open(instance);
    await write(client, bytes);
    const end = performance.now() + (never.has(what) ? 200 : DEADLINE_MS);
    const isEnded = () => client.isClosed || /^\x88/.test(client.received);
    while (!isEnded() && performance.now() < end) await delay(5);
    // Deno reads them; RFC 6455 §5.1 protects proxies by it, not servers
    const isRead = /^\x81/.test(client.received);
    if (isRead && what === "no mask" && runtime === "deno") return undefined;
    if (isRead) return `${what} was taken for a message`;
    return isEnded() || never.has(what) ? undefined : `${what} was not refused`;
  });
  return { injected: all.length, failures };
};

/** Messages in fragments that never end: each is refused once it is too long. */
export const endlessMessages: Part = async ({ instance, isQuick }) => {
  const [clients, mib] = isQuick ? [1, 96] : [4, 256];
  const fragment = frame(CONTINUATION, "x".repeat(1024 * 1024));
  const failures = await repeat({ count: clients, atOnce: clients }, async () => {
    using client = await open(instance);
    await write(client, frame(BINARY, "x"));
    const end = performance.now() + DEADLINE_MS;
    for (let sent = 0; sent < mib && !client.isClosed && performance.now() < end; sent++) {
      await Promise.race([write(client, fragment), delay(5_000)]);
    }
    return client.isClosed || /^\x88/.test(client.received)
      ? undefined
      : `a message of ${mib} MiB goes on`;
  });
  return { injected: clients, failures };
};

/**
 * Opens a WebSocket; what was received of the upgrade is removed. The kernel resets a connection
 * that it could not queue for the instance after half a minute: another one is tried.
 */
async function open(instance: Instance): Promise<RawClient> {
  for (let tries = 1;; tries++) {
    const client = await connectTo(instance);
    client.send(UPGRADE);
    try {
      await client.take(/^HTTP\/1\.1 101[^]*?\r\n\r\n/);
      return client;
    } catch (error) {
      if (!client.isReset || client.received !== "" || tries === TRIES) throw error;
    }
  }
}

/** A frame of a client, whose mask is zero. */
function frame(first: number, payload: string): Buffer {
  const { length } = payload;
  const extended = length < 126
    ? [0x80 | length]
    : length < 65_536
    ? [0x80 | 126, length >> 8, length & 255]
    : [
      0x80 | 127,
      0,
      0,
      0,
      0,
      length >> 24 & 255,
      length >> 16 & 255,
      length >> 8 & 255,
      length & 255,
    ];
  return Buffer.concat([
    Buffer.from([first, ...extended, 0, 0, 0, 0]),
    Buffer.from(payload, "latin1"),
  ]);
}
