/** Connections that are slow, idle, or send all at once. */
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import type { RawClient } from "../../runtime/raw_client.ts";
import { Subprocess } from "../../support/subprocess.ts";
import { type Attacker, connectTo, type Part, repeat, write } from "./many.ts";

const HEAD = "GET /open HTTP/1.1\r\nHost: x\r\n";
const BODY = "POST /input/json HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
/** After this, a body has not arrived in time. */
const BODY_LIMIT_MS = 30_000;

/** Heads that arrive letter by letter. */
export const slowHeads: Part = (attacker) =>
  trickle(attacker, { start: HEAD, next: "X-A: b\r\n", count: attacker.isQuick ? 100 : 1_000 });

/** Bodies that arrive letter by letter: they are refused when their time is over. */
export const slowBodies: Part = async (attacker) => {
  const framings = [
    { start: `${BODY}Content-Length: 1000\r\n\r\n`, next: " " },
    { start: `${BODY}Transfer-Encoding: chunked\r\n\r\n`, next: "1\r\n \r\n" },
    { start: `${BODY.replace("json ", "text ")}Content-Length: 1000\r\n\r\n`, next: " " },
    {
      start: `${BODY.replace("json ", "text ")}Transfer-Encoding: chunked\r\n\r\n`,
      next: "1\r\n \r\n",
    },
  ];
  const all = await Promise.all(framings.map((framing) =>
    trickle(attacker, {
      ...framing,
      count: attacker.isQuick ? 25 : 250,
      ...!attacker.isQuick && { refusedAfterMs: BODY_LIMIT_MS },
    })
  ));
  return {
    injected: all.reduce((sum, { injected }) => sum + injected, 0),
    failures: all.flatMap(({ failures }) => failures),
  };
};

/**
 * Does other parts beside connections that send nothing: these are open before, as a server that is
 * busy with others leaves new connections in its full queue.
 */
export function besideIdle(part: Part): Part {
  return async (attacker) => {
    const { instance, isQuick } = attacker;
    const count = isQuick ? 500 : 10_000;
    await using holder = new Subprocess("tests/faults/clients/idle_client.ts", {
      args: [instance.origin, count],
      program: process.execPath,
      maxRunMs: 600_000,
    });
    await holder.until(/OPEN/);
    using another = await connectTo(instance);
    another.send(["GET /open HTTP/1.1", "Host: x"]);
    await another.until(/^HTTP\/1\.1 200/);
    const heldMib = Math.round(instance.memoryMib());
    const { injected, note, failures } = await part(attacker);
    await holder[Symbol.asyncDispose]();
    const held = `${heldMib} MiB with ${count} idle connections`;
    return {
      injected: injected + count,
      note: note === undefined ? held : `${held}, ${note}`,
      failures,
    };
  };
}

/** Many requests in one write, of clients that read the answers and of those that do not. */
export const pipelining: Part = async ({ instance, isQuick }) => {
  const count = isQuick ? 500 : 20_000;
  const requests = (length: number) =>
    Array.from(
      { length },
      (_, n) => `GET /input/path/${"a".repeat(n % 10 + 1)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    ).join("");
  const failures: string[] = [];
  const reader = await connectTo(instance);
  void write(reader, requests(count));
  const answers = () => [...reader.received.matchAll(/^\{"size":(\d+)\}/gm)];
  const end = performance.now() + 60_000;
  while (answers().length < count && !reader.isClosed && performance.now() < end) await delay(20);
  const sizes = answers().map(([, size]) => Number(size));
  const isInOrder = sizes.every((size, n) => size === n % 10 + 1);
  if (!isInOrder) failures.push("pipelined requests were answered in another order");
  if (sizes.length < count && !reader.isClosed) {
    failures.push(`${sizes.length} of ${count} answers`);
  }
  reader.socket.destroy();
  const deaf = await Promise.all(Array.from({ length: 20 }, () => connectTo(instance)));
  const unread = requests(count / 4); // Node handles all that one of them has sent in one turn
  for (const client of deaf) {
    client.socket.pause();
    void write(client, unread);
  }
  await delay(isQuick ? 500 : 10_000);
  for (const client of deaf) client.socket.destroy();
  return { injected: 6 * count, note: `${sizes.length} of ${count} pipelined`, failures };
};

interface Trickle {
  readonly start: string;
  readonly next: string;
  readonly count: number;
  /** When each has to be refused, in milliseconds. */
  readonly refusedAfterMs?: number;
}

/** Sends on many connections, a few bytes at a time. */
async function trickle(
  { instance, isQuick }: Attacker,
  { start, next, count, refusedAfterMs }: Trickle,
): Promise<{ readonly injected: number; readonly failures: readonly string[] }> {
  const clients: RawClient[] = [];
  await repeat({ count, atOnce: 50 }, async () => {
    const client = await connectTo(instance);
    clients.push(client);
    await write(client, start);
    return undefined;
  });
  const openMs = refusedAfterMs === undefined ? isQuick ? 2_000 : 60_000 : 3 * refusedAfterMs;
  const end = performance.now() + openMs;
  const isOver = (client: RawClient) => client.isClosed || /^HTTP/.test(client.received);
  while (performance.now() < end && !clients.every(isOver)) {
    for (const client of clients) if (!isOver(client)) client.socket.write(next);
    await delay(500);
  }
  const answered = clients.filter(({ received }) => /^HTTP\/1\.1 (?!4\d\d)/.test(received));
  // a connection that is closed while its client sends is reset: the 408 may be lost with it
  const late = clients.filter(({ received, isClosed }) =>
    !isClosed && !/^HTTP\/1\.1 408/.test(received)
  );
  for (const client of clients) client.socket.destroy();
  return {
    injected: count,
    failures: [
      ...answered.length > 0 ? [`answered ${answered[0]?.received.slice(0, 100)}`] : [],
      ...refusedAfterMs !== undefined && late.length > 0
        ? [`${late.length} of ${count} slow bodies were not refused: ${late[0]?.received}`]
        : [],
    ],
  };
}
