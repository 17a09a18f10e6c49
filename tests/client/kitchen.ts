/** An application with a route of each kind that a client can call. */
import { streamSSE } from "hono/streaming";
import * as v from "valibot";
import {
  ConflictException,
  controller,
  dto,
  type FwApplication,
  FwFactory,
  module,
  route,
} from "../../mod.ts";
import type { ApiOf } from "../../src/client/mod.ts";

const Id = v.object({ id: v.pipe(v.string(), v.toNumber(), v.integer()) });
const Cat = dto("Cat", v.object({ id: v.number(), name: v.string(), born: v.date() }));
const NewCat = v.object({ name: v.string(), age: v.optional(v.number()) });
const Search = v.object({
  take: v.optional(v.pipe(v.string(), v.toNumber())),
  tag: v.optional(v.array(v.string())),
  sort: v.optional(v.picklist(["asc", "desc"])),
});
const Event = v.object({ count: v.number() });
const BORN = new Date(0);

class CatsController extends controller("cats", { version: "v1" }) {
  list = route.get("/", { query: Search }, ({ query }) => query);
  one = route.get("/:id{[0-9]+}", {
    params: Id,
    response: Cat,
    openapi: {
      responses: {
        409: "It is asleep",
        410: { description: "It left", schema: v.object({ since: v.string() }) },
      },
    },
  }, ({ params: { id } }) => {
    if (id === 9) throw new ConflictException("Asleep");
    if (id === 10) return Response.json({ since: "yesterday" }, { status: 410 });
    return { id, name: "Tom", born: BORN };
  });
  create = route.post("/", { body: NewCat, response: Cat, status: 201 }, ({ body }) => ({
    id: body.age ?? 0,
    name: body.name,
    born: BORN,
  }));
  replace = route.put("/:id", { params: Id, body: NewCat, response: NewCat }, ({ body }) => body);
  change = route.patch("/:id", { params: Id, body: v.partial(NewCat) }, ({ body }) => body);
  remove = route.delete("/:id", { params: Id, status: 204 }, () => undefined);
  rename = route.post("/:id/name", {
    params: Id,
    body: v.object({ names: v.array(v.string()) }),
    consumes: ["form"],
  }, ({ body }) => body.names);
  photo = route.post("/:id/photo", {
    params: Id,
    body: v.object({ file: v.instance(File), note: v.string() }),
    consumes: ["multipart"],
  }, async ({ body }) => `${body.note}: ${await body.file.text()}`);
  store = route.post("/:id/visits", {
    params: Id,
    openapi: {
      responses: {
        200: { description: "Known", schema: v.object({ visits: v.number() }) },
        202: { description: "Later", schema: v.object({ job: v.string() }) },
      },
    },
  }, ({ params: { id } }, c) => id > 1 ? c.json({ job: "j" }, 202) : c.json({ visits: 1 }));
}

class RootController extends controller() {
  hello = route.get("/", (_, c) => c.text("hello"));
  file = route.get("/files/*", (_, c) => c.text(c.req.path));
  page = route.get("/pages/:name?", ({ params }) => ({ name: params.name ?? "index" }));
  secret = route.get("/secret", {
    headers: v.object({ "x-key": v.string() }),
    response: v.object({ key: v.string() }),
  }, ({ headers }) => ({ key: headers["x-key"] }));
  any = route.all("/any", (_, c) => c.text(c.req.method));
  exists = route.head("/exists", (_, c) => c.body(null, 200, { "x-count": "3" }));
  moved = route.get("/moved", (_, c) => c.redirect("/api/"));
  html = route.get("/gateway", () => new Response("<h1>Bad</h1>", { status: 502 }));
  bytes = route.get("/bytes", () => new Response(new Uint8Array([1, 2, 3])));
  ticks = route.get("/ticks", {
    openapi: {
      responses: { 200: { description: "Ticks", contentType: "text/event-stream", schema: Event } },
    },
  }, (_, c) =>
    streamSSE(c, async (stream) => {
      for (let count = 1; count <= 3; count++) {
        await stream.writeSSE({
          event: "tick",
          id: String(count),
          data: JSON.stringify({ count }),
        });
      }
      await stream.writeSSE({ data: "two\nlines" });
    }));
}

class KittensController extends controller("cats/:cat/kittens", { version: ["v1", "v2"] }) {
  list = this.route.get("/", ({ params }) => [`A kitten of ${params.cat}`]);
}

const CatsModule = module({ controllers: [CatsController, KittensController] });

/** The root module. */
export const KitchenModule = module({ imports: [CatsModule], controllers: [RootController] });

/** Creates the application, below the prefix `/api`. */
export async function createKitchen(): Promise<FwApplication> {
  return (await FwFactory.create(KitchenModule)).setGlobalPrefix("api").enableUriVersioning();
}

/** Its API, below the prefix `/api`. */
export interface Kitchen extends ApiOf<typeof KitchenModule> {}
