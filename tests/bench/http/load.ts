/** Load by `wrk`, on the second processor. */
import { execFile } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Contest } from "./contests.ts";
import { LOAD_CPU } from "./peer_process.ts";

/** What a load measured. */
export interface LoadResult {
  readonly requests: number;
  readonly perSecond: number;
  /** The latency that 99 % of the requests stayed below, in microseconds. */
  readonly p99Us: number;
}

/** Options of {@linkcode load}. */
export interface LoadOptions {
  readonly origin: string;
  readonly contest: Pick<Contest, "method" | "path" | "paths" | "body">;
  readonly headers: Readonly<Record<string, string>>;
  readonly seconds: number;
  readonly connections: number;
}

const REPORT = `
done = function(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format("RESULT %d %d %d %d\\n",
    summary.requests, summary.duration, latency:percentile(99), failed))
end
`;

const IN_TURN = `
local requests, turn = {}, 0
init = function()
  for index, path in ipairs(paths) do requests[index] = wrk.format(nil, path) end
end
request = function()
  turn = turn % #requests + 1
  return requests[turn]
end
`;

/** Sends requests over connections that stay open; rejects if one of them fails. */
export async function load(
  { origin, contest, headers, seconds, connections }: LoadOptions,
): Promise<LoadResult> {
  const { method, path, paths, body } = contest;
  const script = join(tmpdir(), `fw-load-${crypto.randomUUID()}.lua`);
  const lines = [
    `wrk.method = ${JSON.stringify(method)}`,
    ...Object.entries(headers).map(([name, value]) =>
      `wrk.headers[${JSON.stringify(name)}] = ${quoted(value)}`
    ),
    ...body === undefined ? [] : [`wrk.body = ${quoted(body)}`],
    ...paths ? [`local paths = { ${paths.map(quoted).join(", ")} }`, IN_TURN] : [],
    REPORT,
  ];
  writeFileSync(script, lines.join("\n"));
  try {
    const { stdout } = await promisify(execFile)("taskset", [
      ...["-c", LOAD_CPU, "wrk", "-t", "1", "-c", String(connections), "-d", `${seconds}s`],
      ...["-s", script, origin + path],
    ]);
    const [, ...numbers] = /RESULT (\d+) (\d+) (\d+) (\d+)/.exec(stdout) ?? [];
    const [requests = 0, durationUs = 1, p99Us = 0, failed = 1] = numbers.map(Number);
    if (failed > 0) throw new Error(`${failed} requests failed: ${stdout}`);
    return { requests, perSecond: requests / durationUs * 1e6, p99Us };
  } finally {
    rmSync(script);
  }
}

/** A string of Lua. */
function quoted(text: string): string {
  return `[==[${text}]==]`;
}
