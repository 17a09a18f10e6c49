import assert from "node:assert/strict";
import { connect as connectHttp2 } from "node:http2";
import { ConflictException, controller, FwFactory, module, route } from "../../mod.ts";
import type { HttpServer } from "../../src/runtime/http_server.ts";
import { serve } from "../../src/runtime/listen.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test, testOn } from "../support/test.ts";
import { RawClient } from "./raw_client.ts";
import { RUNTIME } from "./runtime_name.ts";

const LOCAL = { port: 0, hostname: "127.0.0.1" };
const KEY = ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="];

test("serve() sends no body with 204, 304 and for HEAD, and keeps the connection", async () => {
  const answers: Record<string, Response> = {
    "/204": new Response(null, { status: 204 }),
    "/304": new Response(null, { status: 304, headers: { etag: '"a"' } }),
    "/head": new Response("unseen"),
    "/end": new Response(null, { status: 204 }),
  };
  await using server = await serve(({ url }) => answers[new URL(url).pathname]!, LOCAL);
  using client = await RawClient.connect(server);
  for (
    const [line, status] of [
      ["GET /204", 204],
      ["GET /304", 304],
      ["HEAD /head", 200],
      ["GET /end", 204], // its head would not come first after a body
    ]
  ) {
    client.send([`${line} HTTP/1.1`, "Host: localhost"]);
    const [head] = await client.take(/^HTTP\/1\.1 [^]*?\r\n\r\n/);
    assert.equal(Number(head.split(" ")[1]), status);
    assert.doesNotMatch(head, /^transfer-encoding/im);
    // the length of GET or none
    if (line === "HEAD /head") assert.doesNotMatch(head, /^content-length: (?!6\r)/im);
  }
  assert.equal(client.received, "");
});

test("names in forms differ by runtime as docs/serving.md lists", async () => {
  await using server = await serve(async (request) => {
    const file = (await request.formData()).get("file");
    return new Response(file instanceof File ? file.name : "no file");
  }, LOCAL);
  const headers = { "content-type": "multipart/form-data; boundary=b" };
  for (const name of ["a;b.txt", "a=b.txt"]) {
    const disposition = `Content-Disposition: form-data; name="file"; filename="${name}"`;
    const body = ["--b", disposition, "", "a", "--b--", ""].join("\r\n");
    const received = await (await fetch(server.url, { method: "POST", body, headers })).text();
    assert.equal(received, RUNTIME === "deno" ? '"a' : name);
  }
});

test("responses of a runtime differ as docs/serving.md lists", async () => {
  class Answers extends controller() {
    reset = route.get("/reset", (_, c) => c.body(null, 205));
    named = route.get("/named", (_, c) => c.text("a", 200, { "x-name": "\u00e9" }));
    copied = route.get("/copied", () => new Response("a"));
  }
  const app = await FwFactory.create(module({ controllers: [Answers] }));
  app.use("/copied", async (c, next) => {
    await next();
    c.res = new Response(c.res.body, c.res);
  });
  await using server = await app.listen(0, { hostname: "127.0.0.1" });
  const head = async (path: string) => {
    using client = await RawClient.connect(server);
    client.send([`GET ${path} HTTP/1.1`, "Host: localhost"]);
    const [text] = await client.take(/^HTTP\/1\.1 [^]*?\r\n\r\n/);
    return text;
  };
  const isEmpty = /^(?:content-length: 0|transfer-encoding: chunked)\r$/im;
  assert.equal(isEmpty.test(await head("/reset")), RUNTIME !== "deno");
  const name = RUNTIME === "node" ? "\u00c3\u00a9" : "\u00e9";
  assert.equal(/^x-name: (.*)\r$/im.exec(await head("/named"))?.[1], name);
  const type = RUNTIME === "bun" ? "application/octet-stream" : "text/plain";
  assert.match(await head("/copied"), new RegExp(`^content-type: ${type}`, "im"));
});

testOn(["deno"], "other runtimes do not end")(
  "a control character in a header of a response does not end the process",
  () =>
    captureLogs(["fw"], async (records) => {
      const ended = Promise.withResolvers<void>();
      await using server = await serve(({ url }) => {
        const control = decodeURIComponent(new URL(url).search.slice(1));
        if (!control) return new Response("well");
        const body = new ReadableStream({ cancel: () => ended.resolve() });
        return new Response(body, { headers: { "content-disposition": `a${control}b` } });
      }, LOCAL);
      const codes = [...Array(32).keys(), 0x7f].filter((code) => ![0, 9, 10, 13].includes(code));
      for (const code of codes) {
        const control = encodeURIComponent(String.fromCharCode(code));
        const response = await fetch(`${server.url}?${control}`);
        await response.body?.cancel();
        assert.equal(response.headers.get("content-type"), "application/problem+json");
        assert.equal(response.status, 500);
      }
      await ended.promise;
      assert.equal(records.length, codes.length);
      assert.match(String(records[0]?.message.join("")), /content-disposition/);
      assert.equal(await (await fetch(server.url)).text(), "well");
    }),
);

test("HEAD has the length of GET or none, and keeps the connection", () =>
  captureLogs(["fw"], async () => {
    class Answers extends controller() {
      json = route.get("/json", () => ({ a: 1 }));
      text = route.get("/text", (_, c) => c.text("text"));
      stream = route.get("/stream", () => new Response(new Blob(["streamed"]).stream()));
      failure = route.get("/failure", () => ConflictException.throw("Taken"));
    }
    await using app = await FwFactory.create(module({ controllers: [Answers] }));
    app.enableHealthCheck().enableMetrics().enableOpenApi();
    const server = await app.listen(0, LOCAL);
    using client = await RawClient.connect(server);
    const endpoints = ["/health", "/metrics", "/docs", "/openapi.json", "/openapi.yaml"];
    for (
      const path of [...endpoints, "/json", "/text", "/stream", "/failure", "/missing"]
    ) {
      client.send([`HEAD ${path} HTTP/1.1`, "Host: x"]);
      const [head] = await client.take(/^HTTP\/1\.1 [^]*?\r\n\r\n/);
      using other = await RawClient.connect(server);
      other.send([`GET ${path} HTTP/1.1`, "Host: x", "Connection: close"]);
      const [got = "", content = ""] = (await other.end()).split("\r\n\r\n");
      assert.equal(head.split("\r\n")[0], got.split("\r\n")[0], path);
      assert.ok(content.length > 0);
      const length = lengthOf(head);
      // the metrics count the requests between
      if (path !== "/metrics") assert.ok([undefined, lengthOf(got)].includes(length), head);
      assert.notEqual(length, "0", path);
    }
    assert.equal(client.received, "");
  }));

testOn(["deno"], "the others have no HTTP/2")(
  "serve() refuses an authority of HTTP/2 that is not a host with a port",
  () =>
    captureLogs(["fw"], async () => {
      class UrlController extends controller() {
        url = route.get("/", (_, c) => new URL(c.req.url).host);
      }
      await using app = await FwFactory.create(module({ controllers: [UrlController] }));
      const { port } = await app.listen(0, LOCAL);
      const authorities = ["a:99999", ":80", "u@a", "a", "a:8080", "[::1]:80"];
      const statuses = await Promise.all(
        authorities.map((authority) => statusOverHttp2(port, authority)),
      );
      assert.deepEqual(statuses, [400, 400, 400, 200, 200, 200]);
    }),
);

test("serve() sends 100 Continue to a client that expects it", async () => {
  await using server = await serve(async (request) => new Response(await request.text()), LOCAL);
  using client = await RawClient.connect(server);
  client.send(["POST / HTTP/1.1", "Host: x", "Expect: 100-continue", "Content-Length: 4"]);
  await client.take(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
  client.socket.write("body");
  await client.until(/^HTTP\/1\.1 200 [^]*\r\n\r\nbody$/);
});

test("serve() accepts 90 header fields and a head of 15 KB, and refuses one of 1 MB", async () => {
  await using server = await serve(({ headers }) => new Response(headers.get("x-last")), LOCAL);
  const many = Array.from({ length: 88 }, (_, i) => `X-${i}: ${i}`);
  const heads = [[...many, "X-Last: seen"], [`X-Large: ${"x".repeat(15_000)}`, "X-Last: seen"]];
  for (const lines of heads) {
    assert.match(await answer(server, ["GET / HTTP/1.1", ...lines]), / 200 [^]*\r\n\r\nseen$/);
  }
  using client = await RawClient.connect(server);
  client.send(["GET / HTTP/1.1", "Host: x", `X-Large: ${"x".repeat(1_000_000)}`]);
  const status = RUNTIME === "deno" ? 400 : 431;
  await client.until(new RegExp(`^HTTP/1\\.1 ${status} `));
});

test("serve() refuses messages that a proxy could parse differently", async () => {
  await using server = await serve(() => new Response("?"), LOCAL);
  const heads = [
    ["POST / HTTP/1.1", "Content-Length: 5", "Transfer-Encoding: chunked"],
    ["POST / HTTP/1.1", "Content-Length: 5", "Content-Length: 6"],
    ["GET / HTTP/1.1", "X-Name : a space"],
    ["GET / HTTP/1.1", "host: y"],
    ["nonsense"],
  ];
  for (const lines of heads) {
    assert.match(await answer(server, lines), /^HTTP\/1\.1 400 /, lines[1]);
  }
});

test("serve() continues with HTTP/1.1 if an upgrade is invalid or not to a WebSocket", async () => {
  await using server = await serve(async (request) => new Response(await request.text()), LOCAL);
  const heads = [
    ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"],
    ["Connection: Upgrade", "Upgrade: unknown/2"],
    ["Connection: Upgrade"],
    ["Upgrade: websocket", ...KEY],
  ];
  for (const lines of heads) {
    assert.match(await answer(server, ["GET / HTTP/1.1", ...lines]), /^HTTP\/1\.1 200 /, lines[0]);
    const head = ["POST / HTTP/1.1", ...lines, "Content-Length: 4"];
    // Deno refuses upgrades with a body.
    const isRefused = RUNTIME === "deno" && lines.length > 1 && lines[0]!.startsWith("Connection");
    assert.match(await answer(server, head, "body"), isRefused ? / 400 / : /\r\n\r\nbody$/);
  }
});

test("serve() sends the response of a handler that does not upgrade a WebSocket", async () => {
  const headers = { "x-why": "guard", "content-type": "application/problem+json" };
  await using server = await serve(() => new Response("{}", { status: 403, headers }), LOCAL);
  const head = ["GET / HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket", ...KEY];
  const received = await answer(server, head);

  assert.match(received, /^HTTP\/1\.1 403 Forbidden\r\n/);
  assert.match(received, /^content-type: application\/problem\+json\r\n/im);
  assert.match(received, /^x-why: guard\r\n/im);
  assert.match(received, /\r\n\r\n(?:2\r\n)?\{\}(?:\r\n0\r\n\r\n)?$/);
});

function lengthOf(head: string): string | undefined {
  return /^content-length: (\d+)\r?$/im.exec(head)?.[1];
}

async function statusOverHttp2(port: number, authority: string): Promise<number | undefined> {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  const status = await new Promise<number | undefined>((resolve, reject) => {
    session.on("error", reject);
    const stream = session.request({ ":path": "/", ":authority": authority }).on("error", reject);
    let status: number | undefined;
    stream.on("response", (headers) => status = headers[":status"]).resume();
    stream.on("end", () => resolve(status));
  });
  session.destroy();
  return status;
}

test("a request whose target is absolute is answered only if its scheme, host and path are clear", async () => {
  const seen: string[] = [];
  await using server = await serve(({ url }) => {
    seen.push(new URL(url).pathname);
    return new Response("well");
  }, LOCAL);
  const secret = ["http://evil.example?x=/secret"];
  const invalid = [
    "http://evil.example#/secret",
    "http://a\\b/secret",
    "http://[x/secret",
    "http://a%2fb/secret",
    "http://evil.example:99999/secret",
    "http://user:password@evil.example/secret",
    "http://1.2.3.999/secret",
    "ftp://evil.example/secret",
    "ws://evil.example/secret",
  ];
  // Bun passes the path of a target with the host of the field `Host`
  for (const target of RUNTIME === "bun" ? secret : [...secret, ...invalid]) {
    using client = await RawClient.connect(server);
    client.send([`GET ${target} HTTP/1.1`, "Host: localhost", "Connection: close"]);
    await client.end();
  }
  assert.ok(seen.every((path) => path === "/"), `${seen}`);
  const head = await answer(server, ["GET http://other.example:81/open HTTP/1.1"]);
  assert.match(head, /^HTTP\/1\.1 200/);
  assert.equal(seen.at(-1), "/open");
});

test("a Host that no URL has is refused", async () => {
  const seen: string[] = [];
  await using server = await serve(({ url }) => new Response(seen.push(url) + url), LOCAL);
  for (const host of ["1.2.3.999", "1.2.3.4.5", "99999999999", "a.0x", "[:::]", "a b", "u@a"]) {
    using client = await RawClient.connect(server);
    client.send(["GET / HTTP/1.1", `Host: ${host}`, "Connection: close"]);
    assert.match(await client.end(), /^HTTP\/1\.1 400 /, host);
  }
  assert.deepEqual(seen, []);
});

test("no path has dot segments: they are resolved, on Deno refused", async () => {
  await using server = await serve(({ url }) => new Response(url), LOCAL);
  const targets = { "/a/../b": "/b", "/a/%2e%2E/b?x=/../c": "/b?x=/../c", "/../../b/.": "/b/" };
  const sent = async (target: string) => await answer(server, [`GET ${target} HTTP/1.1`]);
  for (const [target, resolved] of Object.entries(targets)) {
    const head = await sent(target);
    if (RUNTIME === "deno") assert.match(head, /^HTTP\/1\.1 400 /);
    else assert.ok(head.endsWith(`http://localhost${resolved}`), head);
  }
  const odd = "/a/..b/.c/...?x=/../y";
  assert.ok((await sent(odd)).endsWith(`http://localhost${odd}`));
});

test("a path with a backslash, which URL reads as a slash, is refused, or resolved on Bun", async () => {
  await using server = await serve(({ url }) => new Response(url), LOCAL);
  const sent = async (target: string) => await answer(server, [`GET ${target} HTTP/1.1`]);
  const targets = {
    "/admin/x\\..\\..\\public\\a": "/public/a",
    "/admin/..\\public/x": "/public/x",
    "/admin/x\\%2e%2e\\%2e%2e/public/": "/public/",
    "/admin\\x?y": "/admin/x?y",
  };
  for (const [target, resolved] of Object.entries(targets)) {
    const head = await sent(target);
    if (RUNTIME === "bun") assert.ok(head.endsWith(`http://localhost${resolved}`), head);
    else assert.match(head, /^HTTP\/1\.1 400 /, target);
  }
  for (const odd of ["/a?x=\\..\\b", "/a%5c..%5cb"]) {
    assert.ok((await sent(odd)).endsWith(`http://localhost${odd}`), odd);
  }
});

test("a request with another method than GET is no upgrade", async () => {
  await using server = await serve(({ method }) => new Response(method), LOCAL);
  for (const method of ["POST", "PUT", "DELETE"]) {
    const lines = ["Connection: Upgrade", "Upgrade: websocket", ...KEY];
    assert.match(
      await answer(server, [`${method} / HTTP/1.1`, ...lines]),
      new RegExp(`${method}$`),
    );
  }
});

/** Sends a request on a new connection; returns the response, complete if it has a length. */
async function answer(server: HttpServer, lines: readonly string[], body = ""): Promise<string> {
  using client = await RawClient.connect(server);
  const [first = "", ...rest] = lines;
  client.send([first, "Host: localhost", ...rest], body);
  const [, length = "0"] = await client.until(
    /^HTTP[^]*?(?:content-length: (\d+)\r\n[^]*?)?\r\n\r\n/i,
  );
  await client.until(new RegExp(`\r\n\r\n[^]{${length}}`));
  return client.received;
}
