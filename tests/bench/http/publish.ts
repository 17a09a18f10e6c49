/** Writes what was measured into `docs/performance.md`: a table for each runtime, and a picture. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { arch, cpus } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { ROOT } from "../../support/project.ts";
import { type Figures, ratioTo } from "./measure.ts";
import type { Runtime } from "./peer_process.ts";
import { drawRatios, NAMES, type Ratios, RUNTIME_NAMES } from "./picture.ts";

/** A measured contest. */
export interface Measured {
  readonly runtime: Runtime;
  readonly contest: string;
  /** Whether it is a contest of users in a database, which has other peers. */
  readonly isCrud: boolean;
  readonly figures: readonly Figures[];
}

const PAGE = join(ROOT, "docs/performance.md");
const PICTURE = "http.svg";
const [BEGIN, END] = ["<!-- written by deno task bench:http -->", "<!-- end -->"];

const MEANING = "Each number is the processor time of a request to the framework, divided by " +
  "that of the peer: below 1 the framework takes less. The token of *bearer token again* was " +
  "verified before; *whole stack* is request ids, a log line, metrics, a rate limit, a token and " +
  "validation. Contests named after a database read and create users in it.";

/** Writes the contests between the marks on the page. */
export function publish(measured: readonly Measured[]): void {
  const plain = measured.filter(({ isCrud }) => !isCrud).map(ratiosOf);
  const crud = measured.filter(({ isCrud }) => isCrud).map(ratiosOf);
  const picture = join(ROOT, "docs", PICTURE);
  writeFileSync(picture, drawRatios(plain));
  const date = new Date().toISOString().slice(0, 10);
  const machine = `${cpus().length} cores of an ${cpus()[0]?.model.trim()} (${arch()})`;
  const text = [
    BEGIN,
    `Measured on ${date} on ${machine}. ${MEANING}`,
    `![The processor time of a request to peers, beside that of fw](${PICTURE})`,
    ...tablesOf(plain),
    ...tablesOf(crud),
    END,
  ].join("\n\n");
  const page = readFileSync(PAGE, "utf8");
  const [before, rest = ""] = page.split(BEGIN);
  if (!rest.includes(END)) throw new Error(`Cannot publish: ${PAGE} has no marks`);
  writeFileSync(PAGE, before + text + rest.slice(rest.indexOf(END) + END.length));
  execFileSync(process.execPath, ["fmt", "-q", PAGE, picture]);
}

function ratiosOf({ runtime, contest, figures }: Measured): Ratios {
  const peers = figures.map(({ peer }) => peer);
  if (!peers.includes("fw")) throw new Error(`Cannot publish ${contest}: fw was not measured`);
  const others = peers.filter((peer) => peer !== "fw");
  return {
    runtime,
    contest,
    over: new Map(others.map((peer) => [peer, ratioTo(peer, figures)])),
  };
}

function tablesOf(all: readonly Ratios[]): readonly string[] {
  const byRuntime = Map.groupBy(all, ({ runtime }) => runtime);
  return [...byRuntime].map(([runtime, rows]) => tableOf(runtime, rows));
}

function tableOf(runtime: Runtime, rows: readonly Ratios[]): string {
  const peers = [...new Set(rows.flatMap(({ over }) => [...over.keys()]))];
  const lines = [
    [RUNTIME_NAMES[runtime], ...peers.map((peer) => NAMES[peer])],
    ["---", ...peers.map(() => "---")],
    ...rows.map(({ contest, over }) => [
      contest,
      ...peers.map((peer) => over.get(peer)?.toFixed(2) ?? ""),
    ]),
  ];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
