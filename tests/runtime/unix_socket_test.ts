import assert from "node:assert/strict";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { clientIp, controller, FwFactory, module, route } from "../../mod.ts";
import { serve } from "../../src/runtime/listen.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { Subprocess } from "../support/subprocess.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { test } from "../support/test.ts";
import { LOCALHOST } from "./certificate_fixture.ts";
import { RawClient } from "./raw_client.ts";

const ok = () => new Response("ok");
const GET = ["GET / HTTP/1.1", "Host: localhost"];

class ConnectionController extends controller() {
  connection = route.get("/", (_, c) => ({ url: c.req.url, ip: clientIp(c) ?? "none" }));
  remove = route.delete("/", (_, c) => ({ removed: c.req.url }));
}

test("app.listen() serves on a Unix socket, and removes its file when it closes", () =>
  captureLogs(["fw"], async () => {
    using folder = new TemporaryFolder();
    const path = join(folder.path, "app.sock");
    await using app = await FwFactory.create(module({ controllers: [ConnectionController] }));
    app.enableHealthCheck();
    const server = await app.listen({ path });
    assert.deepEqual([server.url, server.hostname, server.port], [`unix://${path}`, "", 0]);
    using client = await RawClient.connect(server);
    client.send(["GET / HTTP/1.1", "Host: example.com:81"]);
    await client.take(/\{"url":"http:\/\/example\.com:81\/","ip":"none"\}/);
    client.send(["DELETE / HTTP/1.1", "Host: example.com:81"]);
    await client.take(/\{"removed":"http:\/\/example\.com:81\/"\}/);
    client.send(["GET /health HTTP/1.1", "Host: localhost"]);
    await client.take(/200 [^]*"ok"/);
    await app.close();

    await client.end();
    await assert.rejects(stat(path), { code: "ENOENT" });
  }));

test("app.listen() on a Unix socket trusts its proxy, and limits the clients of the proxy", () =>
  captureLogs(["fw"], async () => {
    using folder = new TemporaryFolder();
    const path = join(folder.path, "app.sock");
    await using app = await FwFactory.create(module({ controllers: [ConnectionController] }));
    app.useTrustedProxy({ hops: 1 }).useRateLimit({ max: 1 });
    using client = await RawClient.connect(await app.listen({ path }));
    for (const [ip, status] of [["192.0.2.1", 200], ["192.0.2.2", 200], ["192.0.2.1", 429]]) {
      client.send([...GET, `X-Forwarded-For: 192.0.2.9, ${ip}`]);
      const [answer] = await client.take(/^[^]*?\}/);
      assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `));
      if (status === 200) assert.ok(answer.endsWith(`"ip":"${ip}"}`), answer);
    }
  }));

test("serve() replaces the socket of a killed process", async () => {
  using folder = new TemporaryFolder();
  const path = join(folder.path, "app.sock");
  await using killed = new Subprocess("tests/runtime/unix_socket_fixture.ts", {
    args: [path],
  });
  await killed.until(/Listening/);
  await killed[Symbol.asyncDispose]();
  assert.ok((await stat(path)).isSocket());

  await using server = await serve(ok, { path });
  using client = await RawClient.connect(server);
  client.send(GET);
  await client.until(/ok$/);
});

test("serve() opens no port if the path of a Unix socket is undefined or invalid", async () => {
  for (const path of [undefined, null, 5, "a\0b"]) {
    const shown = typeof path === "string" ? JSON.stringify(path) : String(path);
    await assert.rejects(serve(ok, { path: path as string }), {
      name: "TypeError",
      message: `Cannot listen on a Unix socket: ${shown} is not a path`,
    });
  }
});

test("serve() reports that the folder of a Unix socket is missing", async () => {
  using folder = new TemporaryFolder();
  await assert.rejects(serve(ok, { path: join(folder.path, "missing/app.sock") }), {
    name: "ListenError",
    code: "Failed",
    message: /no such file or directory|\bENOENT\b/i,
  });
});

test("app.listenGraceful() on a Unix socket stops on SIGTERM, and removes its file", async () => {
  using folder = new TemporaryFolder();
  const path = join(folder.path, "app.sock");
  await using process = new Subprocess("tests/runtime/unix_socket_fixture.ts", {
    args: [path],
  });
  const url = await process.until(/unix:\S+/);
  using client = await RawClient.connect({ url, port: 0 });
  client.send(["GET /health HTTP/1.1", "Host: localhost"]);
  await client.until(/ 200 [^]*"ok"/);
  process.kill("SIGTERM");

  assert.equal((await process.ended).code, 0);
  await assert.rejects(stat(path), { code: "ENOENT" });
});

test("serve() does not replace the socket of another server or a file that is not a socket", async () => {
  using folder = new TemporaryFolder();
  const path = join(folder.path, "app.sock");
  const inUse = {
    name: "ListenError",
    code: "AddressInUse",
    message: `Cannot listen on ${path}: the address is in use`,
  };
  await using first = await serve(ok, { path });
  await assert.rejects(serve(ok, { path }), inUse);
  using client = await RawClient.connect(first);
  client.send(GET);
  await client.until(/ok$/);
  await first.close();

  await writeFile(path, "precious");
  await assert.rejects(serve(ok, { path }), inUse);
  assert.equal(await readFile(path, "utf8"), "precious");
});

test("serve() reports why it cannot listen on a Unix socket", async () => {
  const none = { name: "TypeError", message: 'Cannot listen on a Unix socket: "" is not a path' };
  await assert.rejects(serve(ok, { path: "" }), none);
  for (const [what, options] of [["host name", { hostname: "::" }], ["TLS", { tls: LOCALHOST }]]) {
    await assert.rejects(serve(ok, { path: "/a", ...options as object }), {
      name: "TypeError",
      message: `Cannot listen on /a: a Unix socket has no ${what}`,
    });
  }
});
