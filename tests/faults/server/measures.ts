/** What a process uses, as it measures it itself. */
import process from "node:process";
import * as v8 from "node:v8";
import { runInNewContext } from "node:vm";
import { controller, module, route } from "../../../mod.ts";

/** What a process uses. */
export interface Measures {
  /** After garbage collection, in MiB: the heap and the memory that its objects hold outside it. */
  readonly heapMib: number;
  readonly residentMib: number;
  /** Timers that are set. */
  readonly timers: number;
  /** Delays of the event loop since the last measure, in milliseconds. */
  readonly delayMs: { readonly median: number; readonly p99: number; readonly longest: number };
}

const TICK_MS = 20;
const timers = new Set<unknown>();
const delays: number[] = [];
countTimers();
const collectGarbage = garbageCollector();
let lastTick = performance.now();
setInterval(() => {
  const now = performance.now();
  delays.push(Math.max(0, now - lastTick - TICK_MS));
  lastTick = now;
}, TICK_MS);

class MeasuresController extends controller("measures", { public: true }) {
  measures = route.get("/", (): Measures => {
    collectGarbage();
    const { heapUsed, external, rss } = process.memoryUsage();
    const sorted = delays.splice(0).sort((a, b) => a - b);
    const at = (share: number) => Math.round(sorted[Math.floor(sorted.length * share)] ?? 0);
    return {
      heapMib: (heapUsed + external) / 2 ** 20,
      residentMib: rss / 2 ** 20,
      timers: timers.size,
      delayMs: { median: at(0.5), p99: at(0.99), longest: Math.round(sorted.at(-1) ?? 0) },
    };
  });
}

/** The measures. */
export const measuresModule = module({
  name: "MeasuresModule",
  controllers: [MeasuresController],
});

/** The collector of V8. */
type CollectGarbage = (options: Readonly<Record<string, string>>) => void;

/**
 * Collects garbage, and returns its pages: a usual collection of V8 leaves the heap as large as
 * it has been. Deno has to be started with `--expose-gc` in `DENO_V8_FLAGS`.
 */
function garbageCollector(): () => void {
  const { Bun, gc } = globalThis as { Bun?: { gc(isAtOnce: boolean): void }; gc?: CollectGarbage };
  if (Bun) return () => Bun.gc(true);
  if (!gc) v8.setFlagsFromString("--expose-gc");
  const collect: CollectGarbage = gc ?? runInNewContext("gc");
  return () => collect({ type: "major", execution: "sync", flavor: "last-resort" });
}

/** Counts the timers that are set, on every runtime in the same way. */
function countTimers(): void {
  const scope = globalThis as unknown as Record<string, (...args: unknown[]) => unknown>;
  for (const [set, clear] of [["setTimeout", "clearTimeout"], ["setInterval", "clearInterval"]]) {
    const [setTimer, clearTimer] = [scope[set!]!, scope[clear!]!];
    scope[set!] = (call, ...rest) => {
      const timer = setTimer((...args: unknown[]) => {
        if (set === "setTimeout") timers.delete(timer);
        return (call as (...args: unknown[]) => unknown)(...args);
      }, ...rest);
      timers.add(timer);
      return timer;
    };
    scope[clear!] = (timer) => {
      timers.delete(timer);
      return clearTimer(timer);
    };
  }
}
