/** Draws the ratios of contests: a dot for each peer, right of the line where it takes longer. */
import type { Peer, Runtime } from "./peer_process.ts";

/** The ratios of a contest: the processor time of `fw` over that of each peer. */
export interface Ratios {
  readonly runtime: Runtime;
  readonly contest: string;
  readonly over: ReadonlyMap<Peer, number>;
}

/** The names of the peers. */
export const NAMES: Readonly<Record<Peer, string>> = {
  fw: "fw",
  hono: "Hono",
  hono_zod: "Hono, zod-openapi",
  elysia: "Elysia",
  fastify: "Fastify",
  nest_fastify: "NestJS on Fastify",
  nest_express: "NestJS on Express",
  raw: "the bare runtime",
  hono_sql: "Hono, driver by hand",
  hono_drizzle: "Hono, Drizzle",
  hono_prisma: "Hono, Prisma",
  hono_typeorm: "Hono, TypeORM",
  fastify_sql: "Fastify, driver by hand",
};

/** The names of the runtimes. */
export const RUNTIME_NAMES: Readonly<Record<Runtime, string>> = {
  deno: "Deno",
  node: "Node.js",
  bun: "Bun",
};

/** Of the peers that are drawn. */
const COLORS: Readonly<Partial<Record<Peer, string>>> = {
  fw: "#24292f",
  hono: "#e36002",
  hono_zod: "#f2b179",
  elysia: "#8250df",
  fastify: "#0969da",
  nest_fastify: "#cf222e",
  nest_express: "#f08a93",
  raw: "#8c959f",
};

const [WIDTH, LABELS, ROW, HEAD] = [860, 170, 24, 34];
const LEGEND = 40;
/** The ends of the axis: half of the time of `fw`, and 32 times. */
const [LEAST, MOST] = [0.5, 32];
const TICKS = [0.5, 1, 2, 4, 8, 16, 32];

/** Returns an SVG with a panel for each runtime; the axis is logarithmic. */
export function drawRatios(all: readonly Ratios[]): string {
  const runtimes = [...new Set(all.map(({ runtime }) => runtime))];
  const panels: string[] = [];
  let top = LEGEND;
  for (const runtime of runtimes) {
    const rows = all.filter((each) => each.runtime === runtime);
    panels.push(text([0, top + 22], RUNTIME_NAMES[runtime], `font-weight="bold"`), grid(top, rows));
    rows.forEach((row, index) => panels.push(line(top + HEAD + ROW * (index + 0.5), row)));
    top += HEAD + ROW * rows.length + 20;
  }
  const peers = [...new Set(all.flatMap(({ over }) => [...over.keys()]))];
  const step = WIDTH / peers.length;
  const legend = peers.flatMap((peer, index) => [
    dot(step * index + 8, 18, peer),
    text([step * index + 18, 22], NAMES[peer]),
  ]);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-12 0 ${WIDTH + 24} ${top}" ` +
    `font-family="sans-serif" font-size="12" fill="#24292f">`,
    "<title>The processor time of a request to peers; fw is 1</title>",
    `<rect x="-12" width="${WIDTH + 24}" height="${top}" fill="#fff"/>`,
    ...legend,
    ...panels,
    "</svg>\n",
  ].join("\n");
}

function grid(top: number, rows: readonly Ratios[]): string {
  const bottom = top + HEAD + ROW * rows.length;
  return TICKS.map((tick) => {
    const color = tick === 1 ? "#24292f" : "#d0d7de";
    return `<path d="M${x(tick)} ${top + HEAD}V${bottom}" stroke="${color}"/>` +
      text([x(tick) - 8, top + HEAD - 6], tick === 1 ? "fw" : `${tick} x`, `fill="#57606a"`);
  }).join("\n");
}

function line(y: number, { contest, over }: Ratios): string {
  const dots = [...over].map(([peer, ratio]) => dot(x(1 / ratio), y, peer));
  return [text([0, y + 4], contest), ...dots].join("\n");
}

/** The place of the time of a peer as a multiple of that of `fw`. */
function x(multiple: number): number {
  const part = Math.log(Math.min(Math.max(multiple, LEAST), MOST) / LEAST) / Math.log(MOST / LEAST);
  return Math.round(LABELS + part * (WIDTH - LABELS));
}

function dot(x: number, y: number, peer: Peer): string {
  return `<circle cx="${Math.round(x)}" cy="${y}" r="5" fill="${COLORS[peer]}">` +
    `<title>${NAMES[peer]}</title></circle>`;
}

function text([x, y]: readonly [number, number], words: string, attributes = ""): string {
  return `<text x="${Math.round(x)}" y="${y}" ${attributes}>${words}</text>`;
}
