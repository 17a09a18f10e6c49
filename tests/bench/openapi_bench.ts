/**
 * The OpenAPI document of 1 000 routes, each with schemas of its own: how long it takes to make at the
 * boot of a fresh process (goal: 150 ms), and what it costs to serve beside a static text of its size
 * (goal: nothing).
 */
import { Hono } from "hono";
import { spawnSync } from "node:child_process";
import process from "node:process";
import * as v from "valibot";
import {
  controller,
  type ControllerClass,
  dto,
  FwFactory,
  module,
  type Route,
  route,
} from "../../mod.ts";
import { compare, printMachine } from "./compare.ts";

const CONTROLLERS = 100;
const ROUTES = 10; // of each controller

/** A controller of a resource, whose schemas are no other's. */
function controllerOf(resource: string): ControllerClass {
  const id = v.object({ id: v.pipe(v.string(), v.toNumber(), v.integer(), v.minValue(1)) });
  const page = v.object({
    skip: v.optional(v.pipe(v.string(), v.toNumber(), v.integer()), "0"),
    take: v.optional(v.pipe(v.string(), v.toNumber(), v.integer()), "20"),
  });
  return class ThingsController extends controller(resource) {
    constructor() {
      super();
      const routes: Record<string, Route> = {};
      for (let i = 0; i < ROUTES; i++) {
        const row = dto(`${resource}Row${i}`, rowSchema());
        routes[`${resource}Route${i}`] = i % 2 === 0
          ? route.get(`/${i}/:id`, { params: id, query: page, response: row }, () => ROW)
          : route.post(`/${i}/:id`, { params: id, body: row, response: row }, () => ROW);
      }
      Object.assign(this, routes);
    }
  };
}

function rowSchema() {
  return v.object({
    id: v.pipe(v.number(), v.integer()),
    email: v.pipe(v.string(), v.email(), v.maxLength(254)),
    name: v.pipe(v.string(), v.minLength(2), v.maxLength(80)),
    tags: v.array(v.string()),
    address: v.optional(v.object({ street: v.string(), city: v.string() })),
  });
}

const ROW = { id: 1, email: "tom@example.com", name: "Tom", tags: [] };

async function application() {
  const controllers = Array.from({ length: CONTROLLERS }, (_, i) => controllerOf(`things${i}`));
  return await FwFactory.create(module({ controllers }));
}

if (process.argv.includes("--boot")) { // this file once more, in a process of its own
  const app = await application();
  const start = performance.now();
  await app.openApi();
  console.log(performance.now() - start);
} else {
  printMachine(["hono", "valibot", "@valibot/to-json-schema"]);
  const times = Array.from({ length: 7 }, bootMs).toSorted((a, b) => a - b);
  const [first, middle] = [times[0], times[times.length >> 1]].map((ms) => ms?.toFixed(0));
  console.log(
    `\nThe document of ${CONTROLLERS * ROUTES} routes, in a fresh process: ${middle} ms ` +
      `(median of 7; the fastest ${first} ms; goal <= 150 ms)`,
  );

  const app = (await application()).enableOpenApi({ docsPath: false });
  const text = await (await app.request("/openapi.json")).text();
  const hono = new Hono();
  const bytes = new TextEncoder().encode(text);
  hono.get("/bytes", (c) => c.body(bytes, 200, { "content-type": "application/json" }));
  const [document, plain] = ["/openapi.json", "/bytes"].map((path) =>
    new Request(`http://localhost${path}`)
  );
  await compare({
    title: `Serving it (${(text.length / 1024).toFixed(0)} KiB)`,
    peers: [
      { name: "fw", run: async () => await (await app.fetch(document!)).arrayBuffer() },
      {
        name: "Hono, static bytes",
        run: async () => await (await hono.fetch(plain!)).arrayBuffer(),
      },
    ],
    goals: { "Hono, static bytes": 1.05 },
  });
}

function bootMs(): number {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["run", "-A", "--no-check", import.meta.filename ?? "", "--boot"],
    { encoding: "utf8" },
  );
  const ms = Number(stdout);
  if (!(ms > 0)) throw new Error(`Cannot time the document: ${stderr}`);
  return ms;
}
