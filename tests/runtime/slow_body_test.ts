import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { timeout } from "hono/timeout";
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import * as v from "valibot";
import {
  bodyTimeout,
  ConflictException,
  type Context,
  controller,
  FwFactory,
  type HttpServer,
  module,
  route,
} from "../../mod.ts";
import { limitBody, readWhole } from "../../src/core/http/body_limit.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test, testOn } from "../support/test.ts";
import { RawClient } from "./raw_client.ts";
import { RUNTIME } from "./runtime_name.ts";

const TOO_SLOW = new HTTPException(408, {
  message: "The request took too long",
  res: new Response(null, { headers: { connection: "close" } }),
});

const FRAMINGS = ["Content-Length: 1000", "Transfer-Encoding: chunked"];
const LOCAL = { hostname: "127.0.0.1" };

class SlowController extends controller() {
  declared = route.post("/declared", { body: v.unknown() }, ({ body }) => ({ body }));
  text = route.post("/text", async (_, c) => (await c.req.text()).length);
  bytes = route.post("/bytes", async (_, c) => (await c.req.raw.bytes()).length);
  clone = route.post("/clone", async (_, c) => (await c.req.raw.clone().text()).length);
  proxied = route.post("/proxied", (_, c) => {
    const { body } = c.req.raw;
    return fetch(
      String(c.req.header("x-upstream")),
      { method: "POST", body, duplex: "half" } as RequestInit,
    );
  });
  stream = route.post("/stream", async (_, c) => {
    let bytes = 0;
    for await (const chunk of c.req.raw.body ?? []) bytes += chunk.byteLength;
    return bytes;
  });
  upload = route.post(
    "/upload",
    { bodyLimit: 16 * 1024 * 1024 },
    async (_, c) => (await c.req.arrayBuffer()).byteLength,
  );
}

const PATHS = ["/declared", "/text", "/bytes", "/clone", "/proxied", "/stream", "/upload"];

for (const framing of FRAMINGS) {
  test(`a body with ${framing} that does not arrive in time is answered 408`, () =>
    captureLogs(["fw"], async () => {
      await using app = await FwFactory.create(module({ controllers: [SlowController] }));
      app.use((c, next) => {
        bodyTimeout.set(c, 200);
        return next();
      }).use("/middleware", async (c) => c.text(await c.req.text()));
      const server = await app.listen(0, LOCAL);
      for (const path of [...PATHS, "/middleware"]) {
        const answer = await answerToTrickle(server, path, framing);
        assert.match(answer, /"detail":"The body is too slow"/);
        assert.match(answer, /^connection: close\r$/im);
      }
    }));
}

test("a body in parts of a byte is read in few parts, whoever reads it", () =>
  captureLogs(["fw"], async () => {
    let parts = 0;
    class PartsController extends controller() {
      stream = route.post("/stream", async (_, c) => {
        let bytes = 0;
        for await (const part of c.req.raw.body ?? []) {
          [parts, bytes] = [parts + 1, bytes + part.length];
        }
        return bytes;
      });
      text = route.post("/text", async (_, c) => (await c.req.text()).length);
    }
    await using app = await FwFactory.create(module({ controllers: [PartsController] }));
    const server = await app.listen(0, LOCAL);
    for (const path of ["/stream", "/text"]) {
      using client = await RawClient.connect(server);
      client.send(
        headOf(server, path, "Transfer-Encoding: chunked"),
        `${"1\r\na\r\n".repeat(20_000)}0\r\n\r\n`,
      );
      await client.until(/\r\n\r\n(?:5\r\n)?20000/);
    }
    assert.ok(parts < 2_000, `${parts} parts`);
  }));

test("a body that a filter reads, as its route has refused it unread, has the time limit", () =>
  captureLogs(["fw"], async () => {
    class FilteredController extends controller("", { filters: [readingFilter] }) {
      json = route.post("/", { body: v.unknown() }, ({ body }) => ({ body }));
    }
    async function readingFilter(_: unknown, c: Context) {
      bodyTimeout.set(c, 200);
      return c.text(await c.req.text());
    }
    await using app = await FwFactory.create(module({ controllers: [FilteredController] }));
    const server = await app.listen(0, LOCAL);
    using client = await RawClient.connect(server);
    client.send(["POST / HTTP/1.1", "Host: x", "Content-Type: a/b", "Content-Length: 10"], "1");
    await client.until(/^HTTP\/1\.1 408 [^]*"detail":"The body is too slow"/);
  }));

test("readWhole() limits the time of a body that is read first", async () => {
  const app = new Hono();
  app.post("/", async (c) => {
    bodyTimeout.set(c, 100);
    limitBody(c, 1000, { isReadFirst: true });
    const error = await readWhole(c).catch((error) => error);
    return c.text(error.message);
  });
  const body = new ReadableStream({ type: "bytes" }); // never a byte
  const headers = { "content-length": "10" };
  const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
  const response = await app.request("/", init);
  assert.equal(await response.text(), "The body is too slow");
});

test("the time limit of an outer application applies alone, to a body that is read first too", async () => {
  const inner = new Hono();
  inner.post("/", async (c) => {
    bodyTimeout.set(c, 50);
    limitBody(c, 1000, { isReadFirst: true });
    return c.text(new TextDecoder().decode(await readWhole(c)));
  });
  const outer = new Hono();
  outer.post("/", (c) => {
    bodyTimeout.set(c, 20_000);
    limitBody(c, 1000);
    return inner.fetch(c.req.raw);
  });
  const body = new ReadableStream({
    async start(controller) {
      await delay(300);
      controller.enqueue(new TextEncoder().encode("late"));
      controller.close();
    },
  });
  const headers = { "content-length": "4" };
  const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
  assert.equal(await (await outer.request("/", init)).text(), "late");
});

test("an error that a handler throws after it has caught that of a body is its own", () =>
  captureLogs(["fw"], async () => {
    class CatchingController extends controller() {
      caught = route.post("/", async (_, c) => {
        await c.req.text().catch(() => {});
        throw new ConflictException("another reason");
      });
      json = route.post("/json", async (_, c) => {
        const error = await c.req.raw.json().catch((error: unknown) => error);
        return (error as Error).name;
      });
    }
    await using app = await FwFactory.create(module({ controllers: [CatchingController] }));
    app.use((c, next) => {
      bodyTimeout.set(c, 200);
      return next();
    });
    const server = await app.listen(0, LOCAL);
    using client = await RawClient.connect(server);
    client.send(["POST / HTTP/1.1", "Host: x", "Content-Length: 10"], "1");
    await client.until(/^HTTP\/1\.1 409 /);
    const response = await fetch(`${server.url}/json`, { method: "POST", body: '{"a":' });
    assert.equal(await response.json(), "SyntaxError");
  }));

for (const framing of FRAMINGS) {
  test(`a body with ${framing} whose client leaves is a 400, and not logged as an error`, () =>
    captureLogs(["fw"], async (records) => {
      await using app = await FwFactory.create(module({ controllers: [SlowController] }));
      let [arrived, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<number>()];
      app.use(async (c, next) => {
        arrived.resolve();
        await next();
        ended.resolve(c.res.status);
      });
      const server = await app.listen(0, LOCAL);
      for (const path of PATHS) {
        [arrived, ended] = [Promise.withResolvers(), Promise.withResolvers()];
        using client = await RawClient.connect(server);
        client.send(headOf(server, path, framing), "1\r\n2\r\n");
        await arrived.promise;
        client.socket.destroy();
        assert.equal(await ended.promise, 400, path);
      }
      assert.deepEqual(records.filter(({ level }) => level === "error"), []);
    }));
}

testOn(["node"], "the others do not wait for it, or limit no head")(
  "a body that no handler reads, and that never ends, does not keep its connection",
  () =>
    captureLogs(["fw"], async () => {
      await using app = await FwFactory.create(module({ controllers: [SlowController] }));
      const server = await app.listen(0, LOCAL);
      for (const framing of FRAMINGS) {
        using client = await RawClient.connect(server);
        client.send(["POST /missing HTTP/1.1", "Host: x", framing], "1\r\n2\r\n");
        const trickle = setInterval(() => client.socket.write("1\r\n2\r\n"), 50);
        try {
          await client.until(/^HTTP\/1\.1 404 /);
          await client.end();
        } finally {
          clearInterval(trickle);
        }
      }
    }),
);

test("a body may take longer than its limit if enough of it arrives, or by bodyTimeout", () =>
  captureLogs(["fw"], async () => {
    await using app = await FwFactory.create(module({ controllers: [SlowController] }));
    app.use((c, next) => {
      bodyTimeout.set(c, c.req.path === "/stream" ? Infinity : 1);
      return next();
    });
    const server = await app.listen(0, LOCAL);
    const half = "x".repeat(1024 * 1024);
    const chunk = `${half.length.toString(16)}\r\n${half}\r\n`;
    const cases = [
      ["/upload", `Content-Length: ${2 * half.length}`, half, half, "2097152"],
      ["/upload", "Transfer-Encoding: chunked", chunk, `${chunk}0\r\n\r\n`, "2097152"],
      ["/stream", "Content-Length: 2", "x", "x", "2"],
    ] as const;
    for (const [path, framing, first, second, answer] of cases) {
      using client = await RawClient.connect(server);
      client.send([`POST ${path} HTTP/1.1`, "Host: x", framing], first);
      await delay(500);
      client.socket.write(second);
      await client.until(new RegExp(`^HTTP/1\\.1 200 [^]*\r\n\r\n${answer}$`));
    }
  }));

test("bodyTimeout.set() refuses what is not a time, as no body would reach it", async () => {
  await using app = await FwFactory.create(module({ controllers: [SlowController] }));
  const refused: unknown[] = [];
  app.use((c, next) => {
    for (const limit of [NaN, -1, "200"] as number[]) {
      assert.throws(() => bodyTimeout.set(c, limit), (error) => {
        assert.ok(error instanceof RangeError);
        return refused.push(error.message) > 0;
      });
    }
    for (const limit of [undefined, 0, Infinity]) bodyTimeout.set(c, limit);
    return next();
  });
  assert.equal((await app.request("/text", { method: "POST", body: "x" })).status, 200);
  assert.deepEqual(
    refused,
    ["NaN", "-1", "200"].map((it) => `Cannot limit the body: bodyTimeout is ${it} ms`),
  );
});

for (const framing of FRAMINGS) {
  test(`timeout() answers 408 to a body with ${framing} that never ends`, () =>
    captureLogs(["fw"], async () => {
      await using app = await FwFactory.create(module({ controllers: [SlowController] }));
      app.use(timeout(200, TOO_SLOW));
      const server = await app.listen(0, LOCAL);
      for (const path of ["/declared", "/text"]) {
        const answer = await answerToTrickle(server, path, framing);
        assert.match(answer, /"detail":"The request took too long"/);
      }
    }));
}

function headOf({ url }: HttpServer, path: string, framing: string): readonly string[] {
  const type = "Content-Type: application/json";
  return [`POST ${path} HTTP/1.1`, "Host: x", type, `X-Upstream: ${url}/text`, framing];
}

/** Sends a body that never ends; resolves to the 408, after which the connection is closed. */
async function answerToTrickle(
  server: HttpServer,
  path: string,
  framing: string,
): Promise<string> {
  using client = await RawClient.connect(server);
  client.send(headOf(server, path, framing), "1\r\n2\r\n");
  const trickle = setInterval(() => client.socket.write("1\r\n2\r\n"), 50);
  try {
    const [answer] = await client.until(/^HTTP\/1\.1 408 [^]*"status":408[^]*\}/);
    // Deno reads what the client still sends
    if (RUNTIME !== "deno") await client.end();
    return answer;
  } finally {
    clearInterval(trickle);
  }
}
