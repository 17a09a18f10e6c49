import assert from "node:assert/strict";
import { lightResponses } from "../../src/platform/light_responses.ts";
import { type Context, controller, FwFactory, module, route } from "../../mod.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test, testOn } from "../support/test.ts";

const MADE: Readonly<Record<string, (c: Context) => Response>> = {
  "/text": (c) => c.text("hello"),
  "/json": (c) => c.json({ a: 1 }),
  "/status": (c) => c.text("hello", 404),
  "/header": (c) => {
    c.header("x-a", "b");
    return c.text("hello");
  },
};

/** What needs a response of the runtime: it refuses them, or adds to them. */
const OTHER: Readonly<Record<string, (c: Context) => Response>> = {
  "/plain": () => new Response("hello", { headers: { "cache-control": "no-store" } }),
  "/name": (c) => new Response("hello", { headers: { "x-name": c.req.query("name") ?? "" } }),
  "/low": () => new Response("hello", { status: 99 }),
  "/none": () => new Response("hello", { status: 204 }),
  "/type": () => new Response("hello", { headers: { "content-type": "a\nb" } }),
};

class ResponsesController extends controller() {
  readonly once = new Map<string, Response>();

  constructor() {
    super();
    for (const [path, make] of Object.entries({ ...MADE, ...OTHER })) {
      Object.assign(this, { [path]: route.get(path, (_, c) => make(c)) });
    }
  }

  twice = route.get("/twice", (_, c) => this.once.get("") ?? this.#keep(c.text("hello")));

  #keep(response: Response): Response {
    this.once.set("", response);
    return response;
  }
}

test("a response that cannot be sent is a 500 with a problem, and ends no process", () =>
  captureLogs(["fw"], async () => {
    const app = await FwFactory.create(module({ controllers: [ResponsesController] }));
    await using server = await app.listen(0);
    const get = async (path: string) => {
      const response = await fetch(new URL(path, server.url));
      return { status: response.status, type: response.headers.get("content-type"), response };
    };
    for (let round = 0; round < 3; round++) {
      for (
        const path of ["/name?name=%E6%97%A5", "/name?name=a%0d%0ax:y", "/low", "/type"]
      ) {
        const { status, type, response } = await get(path);
        assert.deepEqual([status, type], [500, "application/problem+json"], path);
        await response.body?.cancel();
      }
      const { status, type, response } = await get("/plain");
      assert.deepEqual([status, type?.toLowerCase()], [200, "text/plain;charset=utf-8"]);
      assert.equal(await response.text(), "hello");
    }
    for (const expected of [200, 500]) {
      const { status, response } = await get("/twice");
      assert.equal(status, expected);
      await response.body?.cancel();
    }
  }));

test("middleware that sets headers of a response does not change those it was created with", async () => {
  const shared = new Headers({ "x-shared": "a" });
  class SharedController extends controller("shared") {
    handled = route.get("/handled", () => new Response("hello", { headers: shared }));
    intercepted = route.get("/intercepted", {
      interceptors: [async (_, next) => {
        const response = await next() as Response;
        response.headers.append("x-added", "b");
        return response;
      }],
    }, () => new Response("hello", { headers: shared }));
  }
  const app = await FwFactory.create(module({ controllers: [SharedController] }));
  app.useRateLimit({ max: 1000 }).use(async (c, next) => {
    await next();
    c.res.headers.append("set-cookie", `session=${c.req.query("user")}`);
    c.res.headers.append("x-added", "c");
  }).use("/shared/early", () => Promise.resolve(new Response("hello", { headers: shared })));
  await using server = await app.listen(0);
  for (const user of ["ann", "tom"]) {
    for (
      const [path, added] of [["handled", "c"], ["intercepted", "b, c"], ["early", "c"]]
    ) {
      const { headers, body } = await fetch(`${server.url}/shared/${path}?user=${user}`);
      await body?.cancel();
      const found = [headers.get("x-shared"), headers.get("x-added"), headers.getSetCookie()];
      assert.deepEqual(found, ["a", added, [`session=${user}`]], path);
      if (path !== "early") assert.match(headers.get("ratelimit")!, /^[^,]*$/);
    }
  }
  assert.deepEqual([...shared], [["x-shared", "a"]]);
});

testOn(["node"], "its subject is @hono/node-server")(
  "a text with checked headers is sent as it was made",
  async () => {
    const app = await FwFactory.create(module({ controllers: [ResponsesController] }));
    const found: Record<string, boolean> = {};
    app.use((c) => {
      const made = { ...MADE, ...OTHER }[c.req.path]!(c);
      const light = lightResponses()!;
      found[c.req.path] = light.isSendable(made);
      return Promise.resolve(new Response());
    });
    await using _server = await app.listen(0); // which replaces the class of responses
    for (const path of Object.keys({ ...MADE, ...OTHER })) await app.request(path);
    for (const path of Object.keys(MADE)) assert.equal(found[path], true, path);
    for (const path of Object.keys(OTHER)) assert.equal(found[path], false, path);
  },
);
