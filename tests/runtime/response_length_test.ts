/** Responses whose fields do not describe their bodies. */
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { controller, FwFactory, module, route } from "../../mod.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test } from "../support/test.ts";
import { RawClient } from "./raw_client.ts";

const TEXT = "a text that is longer than its compressed form ".repeat(50);
const COMPRESSED = gzipSync(TEXT);
const FORGED = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged";

class UpstreamController extends controller() {
  get = route.get("/", () =>
    new Response(COMPRESSED, {
      headers: {
        "content-encoding": "gzip",
        "content-length": String(COMPRESSED.length),
        "content-type": "text/plain",
        "x-upstream": "yes",
      },
    }));
}

test("a fetched response that was compressed is sent decoded, with fields of its own", () =>
  captureLogs(["fw"], async () => {
    await using upstream = await FwFactory.create(module({ controllers: [UpstreamController] }));
    await using source = await upstream.listen(0);
    class ProxyController extends controller() {
      get = route.get("/", () => fetch(source.url));
    }
    await using app = await FwFactory.create(module({ controllers: [ProxyController] }));
    await using server = await app.listen(0);
    const response = await fetch(server.url);
    assert.equal(await response.text(), TEXT);
    assert.equal(response.headers.get("x-upstream"), "yes");
    assert.equal(response.headers.get("content-encoding"), null);
    const head = await fetch(server.url, { method: "HEAD" });
    assert.deepEqual([head.status, head.headers.get("content-encoding")], [200, null]);
    assert.notEqual(head.headers.get("content-length"), String(COMPRESSED.length));
  }));

test("a body of another length than its Content-Length is no other response", () =>
  captureLogs(["fw"], async (records) => {
    const headers = { "content-length": "5" };
    class LengthController extends controller() {
      text = route.get("/text", () => new Response(`hello${FORGED}`, { headers }));
      stream = route.get(
        "/stream",
        () => new Response(new Blob([`hello${FORGED}`]).stream(), { headers }),
      );
      short = route.get(
        "/short",
        () => new Response(new Blob(["hi"]).stream(), { headers: { "content-length": "50" } }),
      );
      parts = route.get(
        "/parts",
        () => new Response(partsOf(["he", `llo${FORGED}`, FORGED]), { headers }),
      );
      own = route.get("/own", (_, c) => c.text("own"));
    }
    await using app = await FwFactory.create(module({ controllers: [LengthController] }));
    await using server = await app.listen(0, { hostname: "127.0.0.1" });
    for (const path of ["/text", "/stream", "/parts", "/short"]) {
      using client = await RawClient.connect(server);
      client.send([`GET ${path}?next=/secret HTTP/1.1`, "Host: x"]);
      client.send(["GET /own HTTP/1.1", "Host: x", "Connection: close"]);
      const [body, following] = readByLength(await client.end());
      if (path === "/short") assert.doesNotMatch(body, /HTTP/);
      else if (path !== "/text") assert.match(body, /^hello/, path); // as of a file that has grown

      assert.doesNotMatch(following, /forged/);
    }
    for (const { properties } of records) assert.doesNotMatch(String(properties.path), /secret/);
  }));

/** Streams texts, one after another. */
function partsOf(texts: readonly string[]): ReadableStream {
  const bytes = texts.map((text) => new TextEncoder().encode(text)).values();
  return new ReadableStream({
    pull(controller) {
      const { value, done } = bytes.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}

/** Returns the body of the first response as a client reads it, and what follows. */
function readByLength(received: string): readonly [body: string, following: string] {
  const [head = ""] = received.split("\r\n\r\n");
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
  const rest = received.slice(head.length + 4);
  return [rest.slice(0, length), rest.slice(length)];
}
