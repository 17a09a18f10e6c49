import { HTTPException } from "hono/http-exception";
import assert from "node:assert/strict";
import { connect } from "node:net";
import {
  ConflictException,
  controller,
  type FwApplication,
  FwFactory,
  HttpException,
  InternalServerErrorException,
  module,
  NotFoundException,
  route,
  ServiceUnavailableException,
  StatusException,
  TooManyRequestsException,
} from "../../../mod.ts";
import * as fw from "../../../mod.ts";
import { errorStatusText } from "../../../src/core/http/status_text.ts";
import { createTestApplication } from "../../../src/testing/mod.ts";
import { captureLogs } from "../../support/capture_logs.ts";
import { freePort } from "../../support/free_port.ts";
import { test } from "../../support/test.ts";
import { withEnv } from "../../support/with_env.ts";

class UpstreamError extends Error {
  readonly httpStatus = 502;
}

class TakenError extends Error {
  readonly httpStatus = 409;
}

class FailingController extends controller() {
  string = route.get("/string", () => {
    throw "a plain string";
  });
  late = route.get("/late", async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    throw new Error("late secret");
  });
  nothing = route.get("/nothing", () => Promise.reject(undefined));
  internal = route.get("/internal", () => InternalServerErrorException.throw("own words"));
  busy = route.get(
    "/busy",
    () => ServiceUnavailableException.throw("Try later", { headers: { "retry-after": "7" } }),
  );
  mapped = route.get("/mapped", () => Promise.reject(new UpstreamError("The bank is closed")));
  taken = route.get("/taken", () => Promise.reject(new TakenError("The name is taken")));
  converted = route.get("/converted", () => {
    throw HttpException.from(new Error("late secret"));
  });
  redirect = route.get("/redirect", () => {
    throw new HTTPException(302, { message: "to the secret" });
  });
  hono = route.get("/hono", () => {
    const headers = new Headers({ "www-authenticate": "Basic", "content-type": "text/plain" });
    for (const cookie of ["session=; Max-Age=0", "refresh=; Max-Age=0"]) {
      headers.append("set-cookie", cookie);
    }
    throw new HTTPException(401, { message: "no", res: new Response("no", { headers }) });
  });
  conflict = route.get(
    "/conflict",
    () => ConflictException.throw("Taken", { cause: new Error("SQL") }),
  );
}

const root = module({ controllers: [FailingController] });

const CONCEALED = "The server could not answer this request";

for (
  const { path, status, title, development, unset, production, error } of [
    {
      path: "/string",
      status: 500,
      title: "Internal Server Error",
      development: "a plain string",
      unset: CONCEALED,
      production: CONCEALED,
      error: "a plain string",
    },
    {
      path: "/late",
      status: 500,
      title: "Internal Server Error",
      development: "late secret",
      unset: CONCEALED,
      production: CONCEALED,
      error: "Error: late secret",
    },
    {
      path: "/nothing",
      status: 500,
      title: "Internal Server Error",
      development: "undefined",
      unset: CONCEALED,
      production: CONCEALED,
      error: "undefined",
    },
    {
      path: "/internal",
      status: 500,
      title: "Internal Server Error",
      development: "own words",
      unset: "own words",
      production: CONCEALED,
      error: "InternalServerErrorException: own words",
    },
    {
      path: "/busy",
      status: 503,
      title: "Service Unavailable",
      development: "Try later",
      unset: "Try later",
      production: CONCEALED,
      error: "ServiceUnavailableException: Try later",
    },
    {
      path: "/mapped",
      status: 502,
      title: "Bad Gateway",
      development: "The bank is closed",
      unset: CONCEALED,
      production: CONCEALED,
      error: "Error: The bank is closed",
    },
    {
      path: "/converted",
      status: 500,
      title: "Internal Server Error",
      development: "late secret",
      unset: CONCEALED,
      production: CONCEALED,
      error: "Error: late secret",
    },
    {
      path: "/redirect",
      status: 500,
      title: "Internal Server Error",
      development: "to the secret",
      unset: CONCEALED,
      production: CONCEALED,
      error: "Error: to the secret",
    },
    {
      path: "/hono",
      status: 401,
      title: "Unauthorized",
      development: "no",
      unset: "no",
      production: "no",
    },
    {
      path: "/conflict",
      status: 409,
      title: "Conflict",
      development: "Taken",
      unset: "Taken",
      production: "Taken",
    },
    {
      path: "/taken",
      status: 409,
      title: "Conflict",
      development: "The name is taken",
      unset: "The name is taken",
      production: "The name is taken",
    },
  ]
) {
  for (
    const { env, forced = false, detail } of [
      { env: "development", detail: development },
      { env: undefined, detail: unset },
      { env: "staging", detail: unset },
      { env: "production", detail: unset },
      { env: undefined, forced: true, detail: production },
      { env: "development", forced: true, detail: production },
    ]
  ) {
    const where = `FW_ENV=${env ?? ""}${forced ? ", enableProductionErrors()" : ""}`;
    test(`any value that a handler throws becomes a problem document: ${path}, ${where}`, () =>
      withEnv("FW_ENV", env, () =>
        captureLogs(["fw"], async (records) => {
          await using app = await createTestApplication(root, {
            setUp: (app) => app.useRequestId().enableProductionErrors(forced),
          });
          const response = await app.request(path, { headers: { "x-request-id": "id-1" } });
          assert.equal(response.status, status);
          assert.equal(response.headers.get("content-type"), "application/problem+json");
          assert.deepEqual(await response.json(), {
            type: "about:blank",
            title,
            status,
            detail,
            instance: path,
            requestId: "id-1",
          });
          const told = records.map((
            { level, properties },
          ) => [level, String(properties["error"]), properties["requestId"]]);
          assert.deepEqual(told, error === undefined ? [] : [["error", error, "id-1"]]);
        })));
  }
}

/** A URI reference that begins with one slash (RFC 3986 §4.2). */
const PATH_REFERENCE = /^\/(?!\/)(?:[\w\-.~!$&'()*+,;=:@/]|%[\dA-Fa-f]{2})*$/;

/** Requested paths, and the `instance` of their problems. */
const INSTANCES: Readonly<Record<string, string>> = {
  "/a/b": "/a/b",
  "/a%20b/%C3%BC": "/a%20b/%C3%BC",
  "/a?b=c": "/a",
  "/a/%zz": "/a/%25zz",
  "/a/%4z/": "/a/%254z/",
  "/a|b": "/a%7Cb",
  "/a^b[c]": "/a%5Eb%5Bc%5D",
  "/a:b@c;d=e,f!$&'()*+~": "/a:b@c;d=e,f!$&'()*+~",
  [`/${"a".repeat(2045)}%41`]: `/${"a".repeat(2045)}`,
  [`/${"a".repeat(2046)}%41`]: `/${"a".repeat(2046)}`,
  [`/${"a".repeat(2044)}%41`]: `/${"a".repeat(2044)}%41`,
};

for (const [path, instance] of Object.entries(INSTANCES)) {
  const shown = path.replace(/a{9,}/, (as) => `a{${as.length}}`);
  test(`instance of a problem is a URI reference: ${shown}`, () =>
    captureLogs(["fw"], async () => {
      await using app = await createTestApplication(root);
      const problem = await (await app.fetch(new Request(`http://localhost${path}`))).json();
      assert.equal(problem.instance, instance);
      assert.match(problem.instance, PATH_REFERENCE);
    }));
}

test("a failure that the client caused by leaving is logged at debug, any other at error", () =>
  captureLogs(["fw"], async (records) => {
    let leaves = new AbortController();
    class LeavingController extends controller() {
      fail = route.get("/:cause", ({ params }, c) => {
        leaves.abort(new Error("gone"));
        const { reason } = c.req.raw.signal;
        const cause = params["cause"] === "client" ? new Error("aborted", { cause: reason }) : 1;
        throw new Error("no answer", { cause });
      });
    }
    await using app = await createTestApplication(module({ controllers: [LeavingController] }));
    for (const cause of ["client", "server"]) {
      leaves = new AbortController();
      await app.request(`/${cause}`, { signal: leaves.signal });
    }
    assert.deepEqual(records.map(({ level }) => level), ["debug", "error"]);
  }));

test("instance of a problem names no other host if a path begins with two slashes", () =>
  captureLogs(["fw"], async () => {
    await using app = await createTestApplication(root);
    for (const path of ["//a", "//a:b", "//@:c/d", "//", "///e", "//%zz"]) {
      const { instance } = await (await app.fetch(new Request(`http://localhost${path}`))).json();
      assert.match(instance, PATH_REFERENCE, path);
    }
  }));

test("instance of a problem is a URI reference for any path sent over a socket", () =>
  captureLogs(["fw"], async () => {
    await using app = await createTestApplication(root);
    await using server = await app.listen(await freePort(), { hostname: "127.0.0.1" });
    const instanceOf = async (path: string) => {
      const head = `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
      const text = await sent(server.port, head);
      return /"instance":"([^"]*)"/.exec(text)?.[1] ?? text;
    };
    for (const path of ["/a/%zz", "/a|b", "/%4", "/a`b", "/{a}"]) {
      assert.match(await instanceOf(path), PATH_REFERENCE, path);
    }
  }));

async function sent(port: number, head: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(head);
  let text = "";
  for await (const chunk of socket) text += chunk;
  return text;
}

test("a problem keeps the headers of its exception", async () => {
  await using app = await createTestApplication(root);
  assert.equal((await app.request("/busy")).headers.get("retry-after"), "7");
  const { headers } = await app.request("/hono");
  assert.equal(headers.get("www-authenticate"), "Basic");
  assert.deepEqual(headers.getSetCookie(), ["session=; Max-Age=0", "refresh=; Max-Age=0"]);
});

test("middleware can throw any value", async () => {
  for (const thrown of ["a string", undefined, new Error("boom"), new NotFoundException("gone")]) {
    await using app = await createTestApplication(root, {
      setUp: (app) => app.useRequestId().use(() => Promise.reject(thrown)),
    });
    const response = await app.request("/late");
    assert.equal(response.status, thrown instanceof NotFoundException ? 404 : 500);
    assert.match(response.headers.get("x-request-id") ?? "", /^[0-9a-f-]{36}$/);
    assert.equal(response.headers.get("content-type"), "application/problem+json");
    assert.doesNotMatch(await response.text(), /a string|boom/);
  }
});

test("enableProductionErrorsFromEnv() follows FW_ENV", async () => {
  for (
    const [value, detail] of [
      ["production", "The server could not answer this request"],
      ["development", "own words"],
      [undefined, "own words"],
    ] as const
  ) {
    await withEnv("FW_ENV", value, async () => {
      await using app = await createTestApplication(root, {
        setUp: (app) => app.enableProductionErrorsFromEnv(),
      });
      assert.equal((await (await app.request("/internal")).json()).detail, detail);
    });
  }
});

test("a problem has at most 100 errors", async () => {
  const issue = { in: "body", field: "a", message: "is wrong" } as const;
  class FormsController extends controller() {
    refuse = route.get("/", () => {
      throw new HttpException(422, "x", { errors: Array(500).fill(issue) });
    });
  }
  await using app = await createTestApplication(module({ controllers: [FormsController] }));
  assert.deepEqual((await (await app.request("/")).json()).errors, Array(100).fill(issue));
});

test("production conceals only the errors of a 5xx", async () => {
  const errors = [{ in: "body", field: "a", message: "is secret" }] as const;
  class ErrorsController extends controller() {
    own = route.get("/:status", ({ params }) => {
      throw new HttpException(Number(params.status), "x", { errors });
    });
  }
  await using app = await createTestApplication(module({ controllers: [ErrorsController] }), {
    setUp: (app) => app.enableProductionErrors(),
  });
  assert.equal((await (await app.request("/500")).json()).errors, undefined);
  assert.deepEqual(await (await app.request("/422")).json().then(({ errors }) => errors), errors);
});

test("the log has the route of a failure, even if another pattern matches the path", () =>
  captureLogs(["fw"], async (records) => {
    class TwoController extends controller("x") {
      wide = route.get("/:id", () => 1);
      narrow = route.get("/fail", () => Promise.reject(new Error("boom")));
    }
    await using app = await createTestApplication(module({ controllers: [TwoController] }), {
      setUp: (app) => app.useRequestTracing(),
    });
    await app.request("/x/fail");
    assert.deepEqual(records.map(({ properties }) => properties["route"]), ["/x/fail", "/x/fail"]);
  }));

test("every named exception has its status, name and message", () => {
  const named = Object.entries(fw).filter(([name]) => /^(?!Http|Status).*Exception$/.test(name));
  const statuses = named.map(([name, Exception]) => {
    const exception = new (Exception as typeof NotFoundException)();
    assert.ok(exception instanceof HttpException);
    assert.equal(exception.name, name);
    assert.equal(exception.message, errorStatusText(exception.status));
    return exception.status;
  });
  assert.deepEqual(
    statuses.toSorted((a, b) => a - b),
    [400, 401, 403, 404, 405, 406, 408, 409, 410, 412, 413, 415, 422, 429, 500, 501, 502, 503, 504],
  );
});

test("HttpException refuses a status that is not an error status", () => {
  for (const status of [200, 399, 600, 404.5, NaN]) {
    assert.throws(() => new HttpException(status), {
      name: "RangeError",
      message: `Cannot create HttpException: status ${status} is not 400 to 599`,
    });
  }
});

test("StatusException sets the status, name and default message of its subclasses", () => {
  class LockedException extends StatusException {
    static override readonly status = 423;
  }
  const { name, status, message, stack } = new LockedException();
  assert.deepEqual({ name, status, message }, {
    name: "LockedException",
    status: 423,
    message: "Locked",
  });
  assert.match(stack ?? "", /^(LockedException|Error): Locked/);
  const headers = { "retry-after": "7" };
  assert.throws(() => LockedException.throw("Taken", { headers }), {
    name,
    status,
    message: "Taken",
    headers,
  });
  class CatNotFoundException extends NotFoundException {}
  const missing: unknown = new CatNotFoundException("No such cat");
  assert.ok(missing instanceof NotFoundException && missing instanceof StatusException);
  assert.deepEqual([missing.name, missing.status], [
    "CatNotFoundException",
    NotFoundException.status,
  ]);
});

test("an error is concealed if FW_ENV is unreadable", () =>
  captureLogs(["fw"], async () => {
    const own = Object.getOwnPropertyDescriptor(globalThis, "process") as PropertyDescriptor;
    const env = new Proxy({}, {
      get() {
        throw new Error("Requires env access");
      },
    });
    await using app = await FwFactory.create(root);
    try {
      Object.defineProperty(globalThis, "process", { value: { env }, configurable: true });
      await app.ready();
    } finally {
      Object.defineProperty(globalThis, "process", own);
    }
    assert.equal((await (await app.request("/late")).json()).detail, CONCEALED);
  }));

test("HttpException.from() leaves out the message of an unexpected error", () => {
  const { message, stack, name } = HttpException.from(new Error("a secret"));
  assert.deepEqual([name, message], ["InternalServerErrorException", "Internal Server Error"]);
  assert.doesNotMatch(stack ?? "", /a secret/);
});

test("HttpException.from() returns an exception as it is, and keeps another error as the cause", () => {
  const limited = new TooManyRequestsException();
  assert.equal(HttpException.from(limited), limited);
  const cause = new Error("boom");
  assert.deepEqual([HttpException.from(cause).status, HttpException.from(cause).cause], [
    500,
    cause,
  ]);
  assert.equal(HttpException.from(new HTTPException(302)).status, 500);
  const foreign = Object.assign(new Error("octokit"), { status: 404 });
  assert.equal(HttpException.from(foreign).status, 500);
});

test("a problem has no representation headers of the failed response", async () => {
  class HalfDoneController extends controller() {
    before = route.get("/before", (_, c) => {
      c.header("content-length", "5");
      c.header("cache-control", "public");
      c.header("expires", "tomorrow");
      c.header("x-own", "kept");
      throw new Error("boom");
    });
    after = route.get(
      "/after",
      (_, c) => c.text("done", 200, { "content-encoding": "gzip", etag: '"1"' }),
    );
  }
  await using app = await createTestApplication(module({ controllers: [HalfDoneController] }), {
    setUp: (app) =>
      app.use("/after", async (c, next) => {
        await next();
        c.header("x-own", "kept");
        throw new Error("boom");
      }),
  });
  for (const path of ["/before", "/after"]) {
    const { status, headers } = await app.request(path);
    assert.equal(status, 500);
    for (const name of ["content-length", "content-encoding", "cache-control", "etag", "expires"]) {
      assert.equal(headers.get(name), null, `${path} ${name}`);
    }
    assert.equal(headers.get("x-own"), "kept");
    assert.equal(headers.get("content-type"), "application/problem+json");
  }
});

test("a problem keeps a Cache-Control with no-store, whichever middleware set it", async () => {
  for (
    const [value, kept] of [["no-store", "no-store"], ["private, No-Store", "private, No-Store"], [
      "public, max-age=60",
      null,
    ]] as const
  ) {
    await using app = await createTestApplication(root, {
      setUp: (app) =>
        app.use(async (c, next) => {
          c.header("cache-control", value);
          c.header("x-own", "kept");
          await next();
        }),
    });
    for (const path of ["/conflict", "/nowhere"]) {
      const { headers } = await app.request(path);
      assert.deepEqual([headers.get("cache-control"), headers.get("x-own")], [kept, "kept"]);
      assert.equal(headers.get("content-type"), "application/problem+json");
    }
  }
});

test("enableProductionErrorsFromEnv() throws if FW_ENV is unreadable", async () => {
  await using app = await FwFactory.create(root);
  const own = Object.getOwnPropertyDescriptor(globalThis, "process") as PropertyDescriptor;
  const env = new Proxy({}, {
    get() {
      throw new Error("Requires env access");
    },
  });
  try {
    Object.defineProperty(globalThis, "process", { value: { env }, configurable: true });
    assert.throws(() => app.enableProductionErrorsFromEnv(), { message: "Requires env access" });
  } finally {
    Object.defineProperty(globalThis, "process", own);
  }
});

test("an exception that cannot be represented is a 500 problem, with and without middleware", async () => {
  const unspeakable = {
    toString() {
      throw new Error("no");
    },
  };
  for (
    const thrown of [new HttpException(401, "x", { headers: { "x-a": "na\u2603" } }), unspeakable]
  ) {
    class OddController extends controller() {
      odd = route.get("/", () => Promise.reject(thrown));
    }
    for (
      const setUp of [() => {}, (app: FwApplication) => app.useRequestId().use((_, next) => next())]
    ) {
      await using app = await createTestApplication(module({ controllers: [OddController] }), {
        setUp,
      });
      const response = await app.request("/");
      assert.equal(response.status, 500);
      assert.equal(response.headers.get("content-type"), "application/problem+json");
    }
  }
});

test("cookies of an error are sent with those of middleware, those of its cause are not", async () => {
  const gone = (cookies: readonly string[]) => {
    const headers = new Headers(cookies.map((cookie) => ["set-cookie", cookie]));
    return new HTTPException(401, { res: new Response("no", { status: 401, headers }) });
  };
  class CookiesController extends controller() {
    one = route.get("/one", () => {
      throw gone(["a=1"]);
    });
    two = route.get("/two", () => {
      throw gone(["a=1", "b=2"]);
    });
    own = route.get("/own", () => {
      throw new HttpException(401, "no", { headers: { "Set-Cookie": "a=1" } });
    });
    cause = route.get("/cause", () => {
      throw new HttpException(401, "no", { cause: gone(["a=1", "b=2"]) });
    });
  }
  await using app = await createTestApplication(module({ controllers: [CookiesController] }), {
    setUp: (app) =>
      app.use(async (c, next) => {
        c.header("set-cookie", "mw=1", { append: true });
        await next();
      }),
  });
  const cookies = async (path: string) => (await app.request(path)).headers.getSetCookie();
  assert.deepEqual(await cookies("/one"), ["mw=1", "a=1"]);
  assert.deepEqual(await cookies("/two"), ["mw=1", "a=1", "b=2"]);
  assert.deepEqual(await cookies("/own"), ["mw=1", "a=1"]);
  assert.deepEqual(await cookies("/cause"), ["mw=1"]);
});
