/** Clients that mean harm, or do not know better. */
import type { Scenario } from "../scenario.ts";
import { addresses } from "./addresses.ts";
import { attack } from "./attack.ts";
import { besideIdle, pipelining, slowBodies, slowHeads } from "./connections.ts";
import { FRAMING } from "./framing.ts";
import { sendEach } from "./hostile_request.ts";
import * as http2 from "./http2.ts";
import { INPUTS } from "./inputs.ts";
import { type Part, together } from "./many.ts";
import { PATHS } from "./paths.ts";
import { deafWebSockets, endlessMessages, invalidFrames, webSocketFlood } from "./web_sockets.ts";

const REQUESTS = [...FRAMING, ...PATHS, ...INPUTS];
/** For 10 000 idle connections, 2 000 slow ones, and what a runtime needs itself. */
const MAX_OPEN_FILES = 14_000;

/** The scenarios of hostile clients. */
export const clients: readonly Scenario[] = [
  {
    fault: "malformed, hidden and costly requests",
    isQuick: true,
    run: sendEach(REQUESTS, { quick: 1, whole: 50, maxGrowthMib: 256 }),
  },
  {
    fault: "hostile connections of every kind at once",
    isQuick: true,
    run: run(
      besideIdle(together(
        slowHeads,
        slowBodies,
        pipelining,
        webSocketFlood,
        deafWebSockets,
        invalidFrames,
        addresses,
      )),
      { quick: 512, whole: 768 },
    ),
  },
  {
    fault: "HTTP/2: floods and invalid heads",
    isQuick: true,
    runtimes: ["deno"],
    run: run(together(...Object.values(http2)), { quick: 256 }),
  },
  {
    fault: "WebSocket messages that never end",
    runtimes: ["node", "bun"], // Deno has no limit: see docs/serving.md
    run: run(endlessMessages, { quick: 256 }),
  },
];

/**
 * By how many MiB the memory of a process may have grown after an attack. Deno takes 45 KiB for
 * each of 12 000 connections; its allocator, and V8 on Node, keep the pages for what comes later: the
 * same attack again adds nothing.
 */
interface Growth {
  readonly quick: number;
  readonly whole?: number;
}

function run(part: Part, { quick, whole = quick }: Growth): Scenario["run"] {
  return (given) =>
    attack(given, {
      maxGrowthMib: given.isQuick ? quick : whole,
      maxOpenFiles: MAX_OPEN_FILES,
      run: (instance) => part({ ...given, instance }),
    });
}
