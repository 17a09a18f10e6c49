/** Prints what was measured. */
import type { StartFigures } from "./growth.ts";
import { type Figures, median, ratioTo } from "./measure.ts";
import type { Peer, Runtime } from "./peer_process.ts";
import type { TypeCheck } from "./type_checks.ts";

/** Prints a contest: a line for each peer, with its processor time, and that of `fw` over it. */
export function printContest(title: string, figures: readonly Figures[]): void {
  console.log(`\n${title}`);
  console.log("peer          µs/request  (quartiles)        requests/s    p99 ms   fw over it");
  for (const { peer, cpuUs, perSecond, p99Us } of figures) {
    const quartile = (part: number) => cpuUs[Math.floor(part * (cpuUs.length - 1))] ?? NaN;
    console.log(
      peer.padEnd(13),
      median(cpuUs).toFixed(1).padStart(10),
      ` (${quartile(0.25).toFixed(1)}-${quartile(0.75).toFixed(1)})`.padEnd(19),
      Math.round(perSecond).toString().padStart(9),
      (p99Us / 1000).toFixed(1).padStart(9),
      ratioTo(peer, figures).toFixed(2).padStart(12),
    );
  }
}

/** Prints how long peers take from the start of the process to their first answer. */
export function printBoot(title: string, times: ReadonlyMap<Peer, number>): void {
  console.log(`\n${title}\npeer          first answer ms`);
  for (const [peer, ms] of times) console.log(peer.padEnd(13), ms.toFixed(0).padStart(15));
}

/** Prints how long the types of routes take to check. */
export function printTypeChecks(checks: readonly TypeCheck[]): void {
  console.log("\ntypes of routes\npeer          routes   deno check s   tsc s");
  for (const { peer, routes, denoSeconds, tscSeconds } of checks) {
    console.log(
      peer.padEnd(13),
      String(routes).padStart(6),
      denoSeconds.toFixed(1).padStart(14),
      tscSeconds.toFixed(1).padStart(7),
    );
  }
}

/** Prints how peers start, and what memory they take. */
export function printStarts(runtime: Runtime, figures: readonly StartFigures[]): void {
  console.log(`\nstart and memory on ${runtime}`);
  console.log("peer          first answer ms   idle MiB   after 100 000 requests MiB");
  for (const { peer, startMs, idleMib, usedMib } of figures) {
    console.log(
      peer.padEnd(13),
      startMs.toFixed(0).padStart(15),
      idleMib.toFixed(0).padStart(10),
      usedMib.toFixed(0).padStart(28),
    );
  }
}
