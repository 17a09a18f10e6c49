/** Schemas that set headers of the responses of their routes. */
import assert from "node:assert/strict";
import * as v from "valibot";
import { controller, FwFactory, module, type Route, route } from "../../../mod.ts";
import { answeredQuery, withEffects } from "../../../src/core/schema/response_effects.ts";
import { operationOf } from "../../openapi/described.ts";
import { test } from "../../support/test.ts";

/** Whether a handler was called without a context. */
const isDirect = () => new Error().stack?.includes("direct_route.ts") === true;

const Plain = v.object({ size: v.number() });
const Sized = withEffects(v.object({ size: v.number() }), {
  headers: { "X-Size": { description: "How large it is", schema: { type: "integer" } } },
  setHeaders(output, c) {
    c.header("X-Size", String((output as { size: number }).size));
    c.header("Link", `<${c.req.path}>; rel="self"`, { append: true });
    c.header("X-Query", JSON.stringify(answeredQuery.get(c) ?? null));
  },
});
const Picked = withEffects(v.object({ n: v.pipe(v.string(), v.toNumber()) }), { problems: [409] });

class SizesController extends controller("sizes") {
  plain = route.get("/plain", { query: Picked, response: Plain }, ({ query: { n } }) => ({
    size: n,
    isDirect: isDirect(),
  }));
  sized = route.get("/sized", { query: Picked, response: Sized }, ({ query: { n } }) => {
    if (isDirect()) throw new Error("the headers need a context");
    return { size: n };
  });
  later = route.get("/later", { response: Sized }, () => Promise.resolve({ size: 3 }));
  linked = route.get("/linked", { response: Sized, status: 203 }, (_, c) => {
    c.header("link", '</>; rel="start"');
    return { size: 4 };
  });
  intercepted = route.get("/intercepted", {
    response: Sized,
    interceptors: [async (_, next) => ({ ...await next() as object, size: 5 })],
  }, () => ({ size: 0 }));
  own = route.get("/own", { response: Sized }, (_, c) => c.json({ size: 6 }) as never);
  wrong = route.get("/wrong", { response: Sized }, () => ({ size: "7" }) as never);
  broken = route.get("/broken", {
    response: withEffects(v.object({}), {
      setHeaders: () => {
        throw new Error("no");
      },
    }),
  }, () => ({}));
}

async function open() {
  const app = await FwFactory.create(module({ controllers: [SizesController] }));
  const get = async (path: string, method = "GET") => {
    const response = await app.request(`/sizes${path}`, { method });
    const header = (name: string) => response.headers.get(name);
    await response.body?.cancel();
    return [response.status, header("x-size"), header("link"), header("x-query")];
  };
  return { app, get, [Symbol.asyncDispose]: () => app.close() };
}

test("a schema of a response sets headers from the result and the query", async () => {
  await using site = await open();
  const self = (name: string) => `</sizes/${name}>; rel="self"`;
  const expected: readonly (readonly [path: string, unknown[]])[] = [
    ["/sized?n=2", [200, "2", self("sized"), '{"n":2}']],
    ["/later", [200, "3", self("later"), "null"]],
    ["/linked", [203, "4", `</>; rel="start", ${self("linked")}`, "null"]],
    ["/intercepted", [200, "5", self("intercepted"), "null"]],
    // Those of a response of its own, and of an error, are not touched.
    ["/own", [200, null, null, null]],
    ["/wrong", [500, null, null, null]],
    ["/broken", [500, null, null, null]],
    ["/sized?n=x", [422, null, null, null]],
  ];
  for (const [path, headers] of expected) {
    assert.deepEqual(await site.get(path), headers, path);
    assert.deepEqual(await site.get(path, "HEAD"), headers, path);
  }
});

test("a route whose schema sets headers answers as one without does", async () => {
  await using site = await open();
  const read = async (path: string) => {
    const response = await site.app.request(`/sizes${path}?n=2`);
    const headers = new Headers(response.headers);
    for (const name of ["x-size", "link", "x-query"]) headers.delete(name);
    return [response.status, Object.fromEntries(headers), await response.json()];
  };
  assert.deepEqual(await read("/sized"), await read("/plain"));
});

test("a document describes the headers and the problems of schemas", async () => {
  const describe = async (described: Route) => {
    const { responses } = await operationOf(described);
    return Object.entries(responses).map(([status, response]) =>
      "headers" in response ? [status, response.headers] : [status]
    );
  };
  const headers = { "X-Size": { description: "How large it is", schema: { type: "integer" } } };
  assert.deepEqual(
    await describe(route.get("/", { query: Picked, response: Sized }, () => ({ size: 1 }))),
    [["200", headers], ["409"], ["422"]],
  );
  assert.deepEqual(
    await describe(route.get("/", {
      response: Sized,
      openapi: { responses: { 200: { description: "It", headers: { "X-More": "More" } } } },
    }, () => ({ size: 1 }))),
    [["200", { ...headers, "X-More": { description: "More", schema: { type: "string" } } }]],
  );
});
