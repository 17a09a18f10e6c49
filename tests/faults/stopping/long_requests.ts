/** Requests that begin before a signal and end after it. */
import { setTimeout as delay } from "node:timers/promises";
import { RawClient } from "../../runtime/raw_client.ts";

/** A request under way. */
export interface LongRequest {
  readonly what: string;
  /** Resolves when its answer is whole; rejects if it is not. */
  readonly ended: Promise<void>;
}

/** The path of the routes that take time. */
const SLOW = "/api/slow";
/** How long the parts of an upload, and a wait, take in milliseconds: longer than the lame duck. */
const LONG_MS = 2_500;
const PART = "x".repeat(8_192);
const PARTS = 10;
/** How many events a client receives before it leaves. */
const EVENTS = 15;

/**
 * Begins requests of every kind; resolves when the server answers those that it answers early. What
 * is left of the uploads is sent after the signal.
 */
export async function beginLong(
  origin: string,
  signalled: Promise<void>,
): Promise<readonly LongRequest[]> {
  return await Promise.all([
    ...Array.from({ length: 4 }, () => wait(origin)),
    ...Array.from({ length: 4 }, () => readLines(origin)),
    ...Array.from({ length: 4 }, () => upload(origin, { framing: "Content-Length", signalled })),
    ...Array.from({ length: 4 }, () => upload(origin, { framing: "chunked", signalled })),
    ...Array.from({ length: 2 }, () => readEvents(origin)),
    ...Array.from({ length: 4 }, () => talk(origin)),
    idle(origin),
  ]);
}

async function wait(origin: string): Promise<LongRequest> {
  const client = await connect(origin);
  client.send(get(`${SLOW}/wait/${LONG_MS}`));
  return request("a slow answer", client, async () => {
    await client.until(/^HTTP\/1\.1 200 [^]*\{"waited":"2500"\}/);
  });
}

/** A stream of ten lines. */
async function readLines(origin: string): Promise<LongRequest> {
  const client = await connect(origin);
  client.send(get(`${SLOW}/lines`));
  await client.until(/\r\n1\n/);
  return request("a stream", client, async () => {
    const { received } = client;
    await client.until(/\n10\n\r\n0\r\n\r\n$/);
    const lines = client.received.match(/^\d+(?=\n)/gm)?.map(Number);
    if (lines?.join() !== "1,2,3,4,5,6,7,8,9,10") throw new Error(`${lines} after ${received}`);
  });
}

/** An upload whose parts come slowly. */
async function upload(
  origin: string,
  { framing, signalled }: {
    readonly framing: "Content-Length" | "chunked";
    readonly signalled: Promise<void>;
  },
): Promise<LongRequest> {
  const client = await connect(origin);
  const isChunked = framing === "chunked";
  const part = isChunked ? `${PART.length.toString(16)}\r\n${PART}\r\n` : PART;
  const bytes = PART.length * PARTS;
  const head = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${bytes}`;
  client.send([`POST ${SLOW}/upload HTTP/1.1`, "Host: a", head], part);
  return request(`an upload (${framing})`, client, async () => {
    await signalled;
    for (let sent = 1; sent < PARTS; sent++) {
      await delay(LONG_MS / PARTS);
      client.socket.write(part);
    }
    if (isChunked) client.socket.write("0\r\n\r\n");
    await client.until(new RegExp(`^HTTP/1\\.1 200 [^]*\\{"bytes":${bytes}\\}`));
  });
}

/** Server-sent events, until the client leaves. */
async function readEvents(origin: string): Promise<LongRequest> {
  const client = await connect(origin);
  client.send(get(`${SLOW}/events`));
  await client.until(/id: 1\n/);
  return request("events", client, async () => {
    await client.until(new RegExp(`id: ${EVENTS}\\n`));
    const ids = client.received.match(/(?<=^id: )\d+$/gm)?.slice(0, EVENTS).map(Number);
    if (ids?.some((id, index) => id !== index + 1)) throw new Error(`events ${ids}`);
  });
}

/** A WebSocket: the stop closes it with 1001. */
async function talk(origin: string): Promise<LongRequest> {
  const socket = new WebSocket(`${origin.replace("http", "ws")}${SLOW}/echo`);
  const answered = new Promise<unknown>((resolve) => socket.onmessage = resolve);
  await new Promise((resolve) => socket.onopen = resolve);
  socket.send("hello");
  await answered;
  const closed = new Promise<CloseEvent>((resolve) => socket.onclose = resolve);
  const ended = closed.then(({ code, reason, wasClean }) => {
    if (code !== 1001 || !wasClean) throw new Error(`a WebSocket: closed with ${code} ${reason}`);
  });
  return { what: "a WebSocket", ended };
}

/** A connection that is kept alive: the stop closes it. */
async function idle(origin: string): Promise<LongRequest> {
  const client = await connect(origin);
  client.send(get("/health"));
  await client.until(/^HTTP\/1\.1 200 [^]*\}/);
  return request("an idle connection", client, async () => void await client.end());
}

function request(what: string, client: RawClient, end: () => Promise<void>): LongRequest {
  const ended = end().catch((error) => {
    throw new Error(`${what}: ${String(error).slice(0, 300)}`);
  }).finally(() => client.socket.destroy());
  ended.catch(() => {}); // it is awaited later
  return { what, ended };
}

function connect(origin: string): Promise<RawClient> {
  return RawClient.connect({ url: origin, port: Number(new URL(origin).port) });
}

function get(path: string): readonly string[] {
  return [`GET ${path} HTTP/1.1`, "Host: a"];
}
