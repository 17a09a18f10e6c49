/** Requests that are written byte by byte, and what a server may do with them. */
import { Buffer } from "node:buffer";
import { setTimeout as delay } from "node:timers/promises";
import { RawClient } from "../../runtime/raw_client.ts";
import type { Given, Outcome } from "../scenario.ts";
import { parseAnswer } from "../wire_client.ts";
import { attack } from "./attack.ts";

/** The connection was closed without an answer. */
export const CLOSED = 0;
/** The server waits for the rest of the request. */
export const WAITS = -1;

/** A request. */
export interface HostileRequest {
  readonly what: string;
  /** What is written, in latin1. */
  readonly bytes: string;
  /** The statuses of its answer, `CLOSED` or `WAITS`. */
  readonly may: readonly number[];
}

/** How requests are repeated. */
export interface Repetition {
  readonly quick: number;
  readonly whole: number;
  readonly maxGrowthMib: number;
}

const CONNECTIONS = 16;
/** An answer must come by then, whatever the request costs. */
const DEADLINE_MS = 20_000;
/** How long a server that may wait is watched. */
const WATCHED_MS = 300;
/** How long a second answer may take to come: what was smuggled is counted by the application. */
const GRACE_MS = 50;

/** Returns a scenario's `run` that sends each of the requests, on a connection of its own. */
export function sendEach(
  requests: readonly HostileRequest[],
  { quick, whole, maxGrowthMib }: Repetition,
): (given: Given) => Promise<Outcome> {
  return (given) =>
    attack(given, {
      maxGrowthMib,
      async run({ origin }) {
        const failures: string[] = [];
        const all = Array(given.isQuick ? quick : whole).fill(requests).flat();
        let [next, slowestMs] = [0, 0];
        await Promise.all(Array.from({ length: CONNECTIONS }, async () => {
          while (next < all.length) {
            const request: HostileRequest = all[next++];
            const sentAt = performance.now();
            const found = await send(origin, request);
            if (found !== undefined) failures.push(`${request.what}: ${found}`);
            else slowestMs = Math.max(slowestMs, performance.now() - sentAt);
          }
        }));
        const note = `slowest hostile answer ${Math.round(slowestMs)} ms`;
        return { injected: all.length, note, failures };
      },
    });
}

/** Sends a request; returns what its answer should not have been. */
async function send(
  origin: string,
  { bytes, may }: HostileRequest,
): Promise<string | undefined> {
  using client = await RawClient.connect({ url: origin, port: Number(new URL(origin).port) });
  client.socket.write(Buffer.from(bytes, "latin1"));
  const end = performance.now() + (may.includes(WAITS) ? WATCHED_MS : DEADLINE_MS);
  const method = /^\S*/.exec(bytes)?.[0] ?? "";
  const first = () => parseAnswer(client.received, { method, isClosed: client.isClosed });
  while (!first() && !client.isClosed && performance.now() < end) await delay(2);
  const status = first()?.status ?? (client.isClosed ? CLOSED : WAITS);
  if (status > 0) await delay(GRACE_MS);
  if (may.includes(status)) return undefined;
  const shown = status === WAITS ? "no answer" : status === CLOSED ? "closed" : status;
  return `${shown}, not one of ${may.join(", ")}: ${client.received.slice(0, 200)}`;
}
