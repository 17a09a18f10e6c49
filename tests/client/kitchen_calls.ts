/**
 * Calls of every route of the kitchen sink, with their results as JSON, and what these must be. It
 * is bundled for browsers and workerd, and imports nothing of the server.
 *
 * @module
 */
import type { Problem } from "../../mod.ts";
import type { Client } from "../../src/client/mod.ts";
import type { Kitchen } from "./kitchen.ts";

/** What came of the calls, by method and path. */
export type KitchenResults = Readonly<Record<string, unknown>>;

const BORN = "1970-01-01T00:00:00.000Z";

/** Calls every route. */
export async function callKitchen(api: Client<Kitchen>): Promise<KitchenResults> {
  const params = { id: 7 };
  const cat = { params: { cat: "100%" } };
  const asleep = await api.get.safe("/v1/cats/:id", { params: { id: 9 } });
  const left = await api.get.safe("/v1/cats/:id", { params: { id: 10 } });
  const invalid = await api.post.safe("/v1/cats", { body: { name: 3 as unknown as string } });
  const gateway = await api.get.safe("/gateway");
  const file = new File(["meow"], "cat.txt");
  const exists = await api.head.safe("/exists");
  return {
    "GET /": await api.get("/"),
    "GET /any": await api.get("/any"),
    "GET /bytes": [
      ...new Uint8Array(await (await api.get.response("/bytes")).arrayBuffer()),
    ],
    "GET /files/*": await api.get("/files/*", { params: { "*": "a/b c/ü?#" } }),
    "GET /gateway": gateway.problem?.status,
    "GET /moved": await api.get("/moved").catch(({ name, message }) => `${name}: ${message}`),
    "GET /pages/:name?": [
      await api.get("/pages/:name?"),
      await api.get("/pages/:name?", { params: { name: "a/b" } }),
    ],
    "GET /secret": await api.get("/secret", { headers: { "x-key": "k" } }),
    "GET /ticks": await ticksOf(api),
    "GET /v1/cats": await api.get("/v1/cats", {
      query: { take: 20, tag: ["a&b", "c d"], sort: "asc" },
    }),
    "GET /v1/cats/:cat/kittens": await api.get("/v1/cats/:cat/kittens", cat),
    "GET /v1/cats/:id": [
      await api.get("/v1/cats/:id", { params }),
      asleep.problem?.status === 409 ? asleep.problem.detail : undefined,
      left.problem?.status === 410 ? left.problem.since : undefined,
    ],
    "GET /v2/cats/:cat/kittens": await api.get("/v2/cats/:cat/kittens", cat),
    "HEAD /exists": [exists.status, exists.response.headers.get("x-count")],
    "PATCH /v1/cats/:id": await api.patch("/v1/cats/:id", { params, body: { age: 2 } }),
    "POST /v1/cats": [
      await api.post("/v1/cats", { body: { name: "Kit", age: 3 } }),
      fieldsOf(invalid),
    ],
    "POST /v1/cats/:id/name": [
      await api.post("/v1/cats/:id/name", { params, form: { names: ["a", "b=&"] } }),
      fieldsOf(await api.post.safe("/v1/cats/:id/name", { params, form: { names: [] } })),
    ],
    "POST /v1/cats/:id/photo": await api.post("/v1/cats/:id/photo", {
      params,
      multipart: { file, note: "new" },
    }),
    "POST /v1/cats/:id/visits": [
      await api.post("/v1/cats/:id/visits", { params: { id: 1 } }),
      await api.post("/v1/cats/:id/visits", { params: { id: 2 } }),
    ],
    "PUT /v1/cats/:id": await api.put("/v1/cats/:id", { params, body: { name: "Max" } }),
    "DELETE /v1/cats/:id": await api.delete("/v1/cats/:id", { params }) ?? "nothing",
  };
}

/** The results of the calls. */
export const KITCHEN_RESULTS: KitchenResults = {
  "GET /": "hello",
  "GET /any": "GET",
  "GET /bytes": [1, 2, 3],
  "GET /files/*": "/api/files/a/b c/ü%3F%23",
  "GET /gateway": 502,
  "GET /moved": "TypeError: Cannot GET /moved: the answer is a redirect",
  "GET /pages/:name?": [{ name: "index" }, { name: "a/b" }],
  "GET /secret": { key: "k" },
  "GET /ticks": [
    ["tick", "1", 1],
    ["tick", "2", 2],
    ["tick", "3", 3],
    ["message", "3", "two\nlines"],
  ],
  "GET /v1/cats": { take: 20, tag: ["a&b", "c d"], sort: "asc" },
  "GET /v1/cats/:cat/kittens": ["A kitten of 100%"],
  "GET /v1/cats/:id": [{ id: 7, name: "Tom", born: BORN }, "Asleep", "yesterday"],
  "GET /v2/cats/:cat/kittens": ["A kitten of 100%"],
  "HEAD /exists": [200, "3"],
  "PATCH /v1/cats/:id": { age: 2 },
  "POST /v1/cats": [{ id: 3, name: "Kit", born: BORN }, ["body name"]],
  "POST /v1/cats/:id/name": [["a", "b=&"], ["body names"]], // an empty form is a form
  "POST /v1/cats/:id/photo": "new: meow",
  "POST /v1/cats/:id/visits": [{ visits: 1 }, { job: "j" }],
  "PUT /v1/cats/:id": { name: "Max" },
  "DELETE /v1/cats/:id": "nothing",
};

function fieldsOf({ problem }: { readonly problem?: Problem | undefined }): unknown {
  return problem?.errors?.map(({ in: part, field }) => `${part} ${field}`);
}

async function ticksOf(api: Client<Kitchen>): Promise<readonly unknown[]> {
  const ticks: unknown[] = [];
  for await (const { event, id, data, json } of api.get.events("/ticks")) {
    ticks.push([event, id, event === "tick" ? json().count : data]);
  }
  return ticks;
}
