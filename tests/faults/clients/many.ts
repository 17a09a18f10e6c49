/** Parts of an attack that do the same many times. */
import { Buffer } from "node:buffer";
import { setTimeout as delay } from "node:timers/promises";
import { RawClient } from "../../runtime/raw_client.ts";
import type { Instance, RuntimeName } from "../server/instance.ts";
import type { Attacked } from "./attack.ts";

/** What a part of an attack has. */
export interface Attacker {
  readonly instance: Instance;
  readonly runtime: RuntimeName;
  readonly isQuick: boolean;
}

/** A part of an attack. */
export type Part = (attacker: Attacker) => Promise<Attacked>;

/** Does several attacks at once. */
export function together(...parts: readonly Part[]): Part {
  return async (attacker) => {
    const all = await Promise.all(parts.map((part) => part(attacker)));
    const notes = all.flatMap(({ note }) => note === undefined ? [] : [note]);
    return {
      injected: all.reduce((sum, { injected }) => sum + injected, 0),
      note: notes.join(", "),
      failures: all.flatMap(({ failures }) => failures),
    };
  };
}

/** How often a connection is tried: it is refused while the queue of the instance is full. */
export const TRIES = 200;

/** Connects to an instance. */
export async function connectTo({ origin }: Instance): Promise<RawClient> {
  for (let tries = 1;; tries++) {
    try {
      return await RawClient.connect({ url: origin, port: Number(new URL(origin).port) });
    } catch (error) {
      if (tries === TRIES) throw error;
      await delay(50);
    }
  }
}

/** Does something `count` times, `atOnce` at once; returns what it returned that is not `undefined`. */
export async function repeat(
  { count, atOnce }: { readonly count: number; readonly atOnce: number },
  run: (n: number, worker: number) => Promise<string | undefined>,
): Promise<readonly string[]> {
  const failures: string[] = [];
  let next = 0;
  await Promise.all(Array.from({ length: atOnce }, async (_, worker) => {
    while (next < count) {
      const failure = await run(next++, worker);
      if (failure !== undefined) failures.push(failure);
    }
  }));
  return failures;
}

/** Writes, and waits until the kernel has it or the connection is closed; without a time limit. */
export async function write({ socket }: RawClient, bytes: Uint8Array | string): Promise<void> {
  const data = typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes;
  await new Promise<void>((resolve) => {
    const end = () => {
      socket.off("close", end);
      resolve();
    };
    socket.once("close", end);
    if (socket.destroyed) end();
    else socket.write(data, end);
  });
}
