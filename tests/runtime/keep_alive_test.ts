import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { serve } from "../../src/runtime/listen.ts";
import { test } from "../support/test.ts";
import { RawClient } from "./raw_client.ts";
import { RUNTIME } from "./runtime_name.ts";

const LOCAL = { port: 0, hostname: "127.0.0.1" };

/** Responds with the path of a request; paths that are earlier in the alphabet take longer. */
async function path({ url }: Request): Promise<Response> {
  const { pathname } = new URL(url);
  await delay(20 * ("d".charCodeAt(0) - pathname.charCodeAt(1)));
  return new Response(`<${pathname}>`);
}

test("serve() handles one request after another on a connection", async () => {
  await using server = await serve(path, LOCAL);
  using client = await RawClient.connect(server);
  for (const name of ["/a", "/b", "/c"]) {
    client.send([`GET ${name} HTTP/1.1`, "Host: localhost"]);
    const [head] = await client.take(/^HTTP\/1\.1 200 [^<]*/);
    assert.doesNotMatch(head, /^connection: close/im);
    assert.equal((await client.take(/^<(.*)>/))[1], name);
  }
});

test("serve() responds to pipelined requests in their order", async () => {
  await using server = await serve(path, LOCAL);
  using client = await RawClient.connect(server);
  const requests = ["/a", "/b", "/c"].map((name) => `GET ${name} HTTP/1.1\r\nHost: localhost`);
  client.send([requests.join("\r\n\r\n")]);

  // Bun closes the connection if a request arrives before the previous response.
  if (RUNTIME === "bun") return assert.equal(await client.end(), "");
  const [received] = await client.until(/<.*>[^]*<.*>[^]*<.*>/);
  assert.deepEqual(received.match(/<.*?>/g), ["</a>", "</b>", "</c>"]);
});

test("serve() responds to a request whose body its handler does not read", async () => {
  await using server = await serve(path, LOCAL);
  using client = await RawClient.connect(server);
  client.send(["POST /b HTTP/1.1", "Host: localhost", "Content-Length: 100000"], "x".repeat(1e5));
  await client.take(/<\/b>/);

  // Deno closes the connection instead of reading the body.
  if (RUNTIME === "deno") return assert.equal(await client.end(), "");
  client.send(["GET /c HTTP/1.1", "Host: localhost"]);
  await client.take(/<\/c>/);
});

test("serve() closes a connection if its client asks for it or uses HTTP/1.0", async () => {
  await using server = await serve(path, LOCAL);
  for (const head of [["GET /c HTTP/1.1", "Host: x", "Connection: close"], ["GET /c HTTP/1.0"]]) {
    using client = await RawClient.connect(server);
    client.send(head);
    const received = await client.end();
    assert.match(received, /^HTTP\/1\.[01] 200 /);
    assert.match(received, /\r\n\r\n<\/c>$/);
  }
});

test("serve() sends the idle timeout of a connection only on Node: 75 s", async () => {
  await using server = await serve(path, LOCAL);
  using client = await RawClient.connect(server);
  client.send(["GET /c HTTP/1.1", "Host: localhost"]);
  const [head] = await client.until(/^[^<]*<\/c>/);
  // Deno has no limit, Bun has one of 255 s; neither sends it.
  const stated = /^keep-alive: timeout=(\d+)/im.exec(head)?.[1];
  assert.equal(stated, RUNTIME === "node" ? "75" : undefined);
});
