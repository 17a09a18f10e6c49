import assert from "node:assert/strict";
import * as v from "valibot";
import {
  type Context,
  type Deprecation,
  NotFoundException,
  type Route,
  route,
  UnprocessableEntityException,
} from "../../mod.ts";
import { deprecationHeaders } from "../../src/core/http/deprecation.ts";
import { test } from "../support/test.ts";
import { applicationOf, controllerOf, operationOf, overSocket } from "./described.ts";

const SINCE = "2025-01-02T03:04:05Z";
const SUNSET = "2026-07-08T09:10:11Z";
const LINK = "https://example.com/moved";

/** What RFC 9745 §2 (an sf-date), RFC 8594 §3 (an IMF-fixdate) and RFC 9745 §3 make of them. */
const WIRE = {
  deprecation: "@1735787045",
  sunset: "Wed, 08 Jul 2026 09:10:11 GMT",
  link: '<https://example.com/moved>; rel="deprecation"',
};
const ALL = { since: SINCE, sunset: SUNSET, link: LINK };

/** What clients read of a deprecation in a response. */
function told({ headers }: Response) {
  const names = ["deprecation", "sunset", "link"] as const;
  return Object.fromEntries(
    names.filter((name) => headers.has(name)).map((name) => [name, headers.get(name)]),
  );
}

for (
  const [what, deprecation, headers] of [
    ["nothing is known of it", {}, [["Deprecation", "@0"]]],
    ["its time is text", { since: SINCE }, [["Deprecation", WIRE.deprecation]]],
    ["its time is a Date", { since: new Date(SINCE) }, [["Deprecation", WIRE.deprecation]]],
    ["its time has an offset", { since: "2025-01-02T04:04:05+01:00" }, [[
      "Deprecation",
      WIRE.deprecation,
    ]]],
    ["its time is a day, in UTC", { since: "2025-01-02" }, [["Deprecation", "@1735776000"]]],
    ["its time has a fraction, which is dropped", { since: "2025-01-02T03:04:05.999Z" }, [[
      "Deprecation",
      WIRE.deprecation,
    ]]],
    ["its time is to come", { since: "2999-01-01" }, [["Deprecation", "@32472144000"]]],
    ["it will be gone", { sunset: SUNSET }, [["Deprecation", "@0"], ["Sunset", WIRE.sunset]]],
    ["it will be gone as it is deprecated", { since: SINCE, sunset: SINCE }, [
      ["Deprecation", WIRE.deprecation],
      ["Sunset", "Thu, 02 Jan 2025 03:04:05 GMT"],
    ]],
    ["a page tells more", { link: LINK }, [["Deprecation", "@0"], ["Link", WIRE.link]]],
    ["a page of the application tells more", { link: "/docs#moved" }, [
      ["Deprecation", "@0"],
      ["Link", '</docs#moved>; rel="deprecation"'],
    ]],
    ["all is known", ALL, [
      ["Deprecation", WIRE.deprecation],
      ["Sunset", WIRE.sunset],
      ["Link", WIRE.link],
    ]],
  ] as const satisfies readonly (readonly [string, Deprecation, readonly (readonly string[])[]])[]
) {
  test(`deprecationHeaders() is the wire format of RFC 9745 and RFC 8594, where ${what}`, () => {
    assert.deepEqual(deprecationHeaders(deprecation), headers);
  });
}

const Body = v.object({ name: v.string() });

/** The ways a route answers: each with its status, and the headers beside those of its deprecation. */
const ANSWERS: Readonly<Record<string, readonly [status: number, Route]>> = {
  "data": [200, route.get("/thing", deprecated(), () => ({ a: 1 }))],
  "data of a schema": [
    201,
    route.post("/thing", { ...deprecated(), response: v.number(), status: 201 }, () => 1),
  ],
  "nothing": [204, route.delete("/thing", { ...deprecated(), status: 204 }, () => undefined)],
  "text of the context": [200, route.get("/thing", deprecated(), (_, c) => c.text("a"))],
  "a raw Response": [
    202,
    route.get("/thing", deprecated(), () => new Response("a", { status: 202 })),
  ],
  "a redirect, whose headers cannot be changed": [
    302,
    route.get("/thing", deprecated(), () => Response.redirect("http://localhost/new")),
  ],
  "a redirect of the context": [
    302,
    route.get("/thing", deprecated(), (_, c) => c.redirect("/new")),
  ],
  "a response of fetch, whose headers cannot be changed": [
    200,
    route.get("/thing", deprecated(), () => fetch("data:text/plain,a")),
  ],
  "a 404 that is thrown": [404, route.get("/thing", deprecated(), () => NotFoundException.throw())],
  "a 422 that is thrown": [
    422,
    route.get("/thing", deprecated(), () => UnprocessableEntityException.throw()),
  ],
  "a 422 of the validation": [422, route.post("/thing", { ...deprecated(), body: Body }, () => 1)],
  "a 500 of an error": [
    500,
    route.get("/thing", deprecated(), () => {
      throw new Error("boom");
    }),
  ],
  "a 500 of a thrown value that is not an error": [
    500,
    route.get("/thing", deprecated(), () => Promise.reject("boom")),
  ],
  "a 500 for a response that does not satisfy its schema": [
    500,
    route.get("/thing", { ...deprecated(), response: v.number() }, () => "a" as never),
  ],
  "a 403 of a guard": [
    403,
    route.get("/thing", { ...deprecated(), guards: [() => false] }, () => 1),
  ],
  "a 401 of roles": [401, route.get("/thing", { ...deprecated(), roles: ["admin"] }, () => 1)],
  "what an interceptor answers": [
    200,
    route.get("/thing", { ...deprecated(), interceptors: [() => new Response("a")] }, () => 1),
  ],
  "what a filter answers": [
    418,
    route.get(
      "/thing",
      { ...deprecated(), filters: [() => new Response("a", { status: 418 })] },
      () => NotFoundException.throw(),
    ),
  ],
  "the redirect of a filter, whose headers cannot be changed": [
    302,
    route.get(
      "/thing",
      { ...deprecated(), filters: [() => Response.redirect("http://localhost/new")] },
      () => NotFoundException.throw(),
    ),
  ],
  "any method": [200, route.all("/thing", deprecated(), () => 1)],
};

function deprecated() {
  return { openapi: { deprecated: ALL } };
}

for (const [what, [status, thing]] of Object.entries(ANSWERS)) {
  test(`Deprecation and Sunset are on the wire of ${what}`, async () => {
    const method = thing.method === "ALL" ? "PATCH" : thing.method;
    const app = await applicationOf(controllerOf({ thing }));
    const response = await app.request("/thing", { method, ...method === "POST" && { json: 3 } });
    assert.deepEqual([response.status, told(response)], [status, WIRE]);
    await response.body?.cancel();
  });
}

test("Deprecation and Sunset are on the wire of what a global filter answers", async () => {
  const thing = route.get("/thing", deprecated(), () => NotFoundException.throw());
  for (
    const filter of [
      (_: unknown, c: Context) => c.text("own", 404),
      () => new Response("own", { status: 404 }),
    ]
  ) {
    const app = await applicationOf(controllerOf({ thing }), {
      setUp: (app) => app.useGlobalFilters(filter),
    });
    const response = await app.request("/thing");
    assert.equal(await response.text(), "own");
    assert.deepEqual(told(response), WIRE);
  }
});

test("Deprecation is on the wire of HEAD as of GET, and of no other route that matches", async () => {
  const app = await applicationOf(controllerOf({
    old: route.get("/old", { openapi: { deprecated: { since: SINCE } } }, () => 1),
    fresh: route.post("/old", () => 1),
    no: route.get("/no", { openapi: { deprecated: false } }, () => 1),
    peek: route.head("/peek", { openapi: { deprecated: { since: SINCE } } }, () => 1),
    look: route.get("/peek", () => 1),
    any: route.get("/:any", { openapi: { deprecated: { since: SINCE } } }, () => 1),
    other: route.all("/other", () => 1),
  }));
  const toldBy = async (path: string, method: string) => told(await app.request(path, { method }));
  assert.deepEqual(await toldBy("/old", "GET"), { deprecation: WIRE.deprecation });
  assert.deepEqual(await toldBy("/old", "HEAD"), { deprecation: WIRE.deprecation });
  assert.deepEqual(await toldBy("/old", "POST"), {});
  assert.deepEqual(await toldBy("/old", "PUT"), {});
  assert.deepEqual(await toldBy("/no", "GET"), {});
  assert.deepEqual(await toldBy("/peek", "HEAD"), { deprecation: WIRE.deprecation });
  assert.deepEqual(await toldBy("/peek", "GET"), {});
  assert.deepEqual(await toldBy("/any", "GET"), { deprecation: WIRE.deprecation });
  assert.deepEqual(await toldBy("/other", "GET"), {});
  assert.deepEqual(await toldBy("/no/ne", "GET"), {});
});

for (
  const [what, answer] of Object.entries<(c: Context) => unknown>({
    "that is set on the context": (c) => {
      c.header("link", '</2>; rel="next"');
      return 1;
    },
    "of a raw Response": () => new Response("a", { headers: { link: '</2>; rel="next"' } }),
    "of a response of the context": (c) => c.text("a", 200, { link: '</2>; rel="next"' }),
    "that is set before an error": (c) => {
      c.header("link", '</2>; rel="next"');
      return NotFoundException.throw();
    },
    "of an exception": () =>
      NotFoundException.throw("No", { headers: { link: '</2>; rel="next"' } }),
  })
) {
  test(`the Link of a deprecation is added to the handler's own Link ${what}`, async () => {
    const app = await applicationOf(controllerOf({
      thing: route.get("/", deprecated(), (_, c) => answer(c)),
    }));
    const response = await app.request("/");
    const links = response.headers.get("link")?.split(", ").toSorted();
    assert.deepEqual(links, ['</2>; rel="next"', WIRE.link]);
  });
}

test("Deprecation and Sunset reach a client over a socket, each once", async () => {
  const app = await applicationOf(controllerOf({
    thing: route.get("/thing", deprecated(), () => 1),
    gone: route.get("/gone", deprecated(), () => NotFoundException.throw()),
  }));
  await overSocket(app, async (get) => {
    for (const [path, status] of [["/thing", 200], ["/gone", 404]] as const) {
      const response = await get(path);
      await response.text();
      assert.deepEqual([response.status, told(response)], [status, WIRE]);
    }
  });
});

for (
  const [deprecation, sunset] of [
    [true, undefined],
    [{}, undefined],
    [ALL, SUNSET],
    [{ sunset: "2027-01-01" }, "2027-01-01"],
    [{ sunset: new Date(SUNSET) }, "2026-07-08T09:10:11.000Z"],
  ] as const
) {
  test(`OpenAPI table: deprecated is in the document: ${JSON.stringify(deprecation)}`, async () => {
    const operation = await operationOf(
      route.get("/", { openapi: { deprecated: deprecation } }, () => 1),
    );
    assert.deepEqual([operation.deprecated, operation["x-sunset"]], [true, sunset]);
  });
}

test("OpenAPI table: deprecated is missing where a route is not deprecated", async () => {
  const operation = await operationOf(
    route.get("/", { openapi: { deprecated: false } }, () => 1),
  );
  assert.equal("deprecated" in operation, false);
});

const WRONG: Readonly<Record<string, readonly [Deprecation, string]>> = {
  "an invalid time": [{ since: "soon" }, '"soon" is not a date'],
  "an invalid month": [{ since: "2025-13-01" }, '"2025-13-01" is not a date'],
  "an invalid day": [{ since: "2025-02-30" }, '"2025-02-30" is not a date'],
  "a time that is not of ISO 8601": [{ since: "soon 2027" }, '"soon 2027" is not a date'],
  "a time without its parts": [{ since: "1" }, '"1" is not a date'],
  "no text": [{ since: "" }, '"" is not a date'],
  "an invalid sunset": [{ since: SINCE, sunset: "never" }, '"never" is not a date'],
  "a sunset before the deprecation": [
    { since: SUNSET, sunset: SINCE },
    "the sunset is before the deprecation",
  ],
  "an invalid link": [{ link: "http://" }, '"http://" is not a URL'],
  "a link that would end its place": [{ link: "/a>; rel=next" }, '"/a>; rel=next" is not a URL'],
  "a link that a header cannot have": [
    { link: "https://example.com/\u6f22" },
    '"https://example.com/\u6f22" is not a URL',
  ],
  "a link that is not of ASCII": [{ link: "/caf\u00e9" }, '"/caf\u00e9" is not a URL'],
};

for (const [what, [deprecation, why]] of Object.entries(WRONG)) {
  test(`route.get() refuses a deprecation with ${what}, naming the route`, () => {
    assert.throws(() => route.get("/old", { openapi: { deprecated: deprecation } }, () => 1), {
      name: "TypeError",
      message: `Cannot declare GET /old: openapi: ${why}`,
    });
  });
}

test("route.get() refuses an invalid Date, naming the route", () => {
  const deprecated = { sunset: new Date(NaN) };
  assert.throws(() => route.get("/old", { openapi: { deprecated } }, () => 1), {
    name: "TypeError",
    message: /^Cannot declare GET \/old: openapi: .* is not a date$/,
  });
});
