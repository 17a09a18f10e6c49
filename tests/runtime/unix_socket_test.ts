import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clientIp, FwFactory, module, route } from "../../mod.ts";
import { serve } from "../../src/runtime/listen.ts";
import { captureLogs } from "../capture_logs.ts";
import { Subprocess } from "../subprocess.ts";
import { test } from "../test.ts";
import { LOCALHOST } from "./certificate_fixture.ts";
import { RawClient } from "./raw_client.ts";

const ok = () => new Response("ok");
const GET = ["GET / HTTP/1.1", "Host: localhost"];

class ConnectionController {
  connection = route.get("/", (_, c) => ({ url: c.req.url, ip: clientIp(c) ?? "none" }));
}

test("app.listen() serves on a Unix socket, whose file is gone when it is closed", () =>
  captureLogs(["fw"], async () => {
    await using folder = await temporaryFolder();
    await using app = await FwFactory.create(module({ controllers: [ConnectionController] }));
    app.enableHealthCheck();
    const server = await app.listen({ path: folder.path });
    assert.deepEqual([server.url, server.hostname, server.port], [`unix://${folder.path}`, "", 0]);
    using client = await RawClient.connect(server);
    client.send(["GET / HTTP/1.1", "Host: example.com:81"]);
    await client.take(/\{"url":"http:\/\/example\.com:81\/","ip":"none"\}/);
    client.send(["GET /health HTTP/1.1", "Host: localhost"]);
    await client.take(/200 [^]*"ok"/);
    await app.close();

    await client.end();
    await assert.rejects(stat(folder.path), { code: "ENOENT" });
  }));

test("app.listen() on a Unix socket believes the proxy in front of it, and limits its clients", () =>
  captureLogs(["fw"], async () => {
    await using folder = await temporaryFolder();
    await using app = await FwFactory.create(module({ controllers: [ConnectionController] }));
    app.useTrustedProxy({ hops: 1 }).useRateLimit({ max: 1 });
    using client = await RawClient.connect(await app.listen({ path: folder.path }));
    for (const [ip, status] of [["192.0.2.1", 200], ["192.0.2.2", 200], ["192.0.2.1", 429]]) {
      client.send([...GET, `X-Forwarded-For: 192.0.2.9, ${ip}`]);
      const [answer] = await client.take(/^[^]*?\}/);
      assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `));
      if (status === 200) assert.ok(answer.endsWith(`"ip":"${ip}"}`), answer);
    }
  }));

test("serve() replaces the socket of a process that was killed", async () => {
  await using folder = await temporaryFolder();
  await using killed = new Subprocess("tests/runtime/unix_socket_fixture.ts", {
    args: [folder.path],
  });
  await killed.until(/Listening/);
  await killed[Symbol.asyncDispose]();
  assert.ok((await stat(folder.path)).isSocket());

  await using server = await serve(ok, { path: folder.path });
  using client = await RawClient.connect(server);
  client.send(GET);
  await client.until(/ok$/);
});

test("serve() opens no port where the path of a Unix socket is not set, or none", async () => {
  for (const path of [undefined, null, 5, "a\0b"]) {
    const shown = typeof path === "string" ? JSON.stringify(path) : String(path);
    await assert.rejects(serve(ok, { path: path as string }), {
      name: "TypeError",
      message: `Cannot listen on a Unix socket: ${shown} is no path`,
    });
  }
});

test("serve() says that the folder of a Unix socket is missing", async () => {
  await using folder = await temporaryFolder();
  await assert.rejects(serve(ok, { path: `${folder.path}.missing/app.sock` }), {
    name: "ListenError",
    code: "Failed",
    message: /no such file or directory|\bENOENT\b/i,
  });
});

test("app.listenGraceful() on a Unix socket stops on SIGTERM, and leaves no file", async () => {
  await using folder = await temporaryFolder();
  await using process = new Subprocess("tests/runtime/unix_socket_fixture.ts", {
    args: [folder.path],
  });
  const url = await process.until(/unix:\S+/);
  using client = await RawClient.connect({ url, port: 0 });
  client.send(["GET /health HTTP/1.1", "Host: localhost"]);
  await client.until(/ 200 [^]*"ok"/);
  process.kill("SIGTERM");

  assert.equal((await process.ended).code, 0);
  await assert.rejects(stat(folder.path), { code: "ENOENT" });
});

test("serve() leaves alone the socket of another server, and a file that is no socket", async () => {
  await using folder = await temporaryFolder();
  const inUse = {
    name: "ListenError",
    code: "AddressInUse",
    message: `Cannot listen on ${folder.path}: the address is in use`,
  };
  await using first = await serve(ok, { path: folder.path });
  await assert.rejects(serve(ok, { path: folder.path }), inUse);
  using client = await RawClient.connect(first);
  client.send(GET);
  await client.until(/ok$/);
  await first.close();

  await writeFile(folder.path, "precious");
  await assert.rejects(serve(ok, { path: folder.path }), inUse);
  assert.equal(await readFile(folder.path, "utf8"), "precious");
});

test("serve() says why a Unix socket cannot be listened on", async () => {
  await using folder = await temporaryFolder();
  const missing = join(folder.path, "app.sock");
  await assert.rejects(serve(ok, { path: missing }), { name: "ListenError" });
  const none = { name: "TypeError", message: 'Cannot listen on a Unix socket: "" is no path' };
  await assert.rejects(serve(ok, { path: "" }), none);
  for (const [what, options] of [["host name", { hostname: "::" }], ["TLS", { tls: LOCALHOST }]]) {
    await assert.rejects(serve(ok, { path: "/a", ...options as object }), {
      name: "TypeError",
      message: `Cannot listen on /a: a Unix socket has no ${what}`,
    });
  }
});

test("HttpServer.close() on a Unix socket waits for requests in flight", async () => {
  await using folder = await temporaryFolder();
  const arrived = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const server = await serve(async () => {
    arrived.resolve();
    await goOn.promise;
    return new Response("answered");
  }, { path: folder.path });
  using client = await RawClient.connect(server);
  client.send(GET);
  await arrived.promise;
  const closed = server.close();
  goOn.resolve();

  assert.match(await client.end(), /^connection: close\r[^]*answered$/im);
  await closed;
});

interface TemporaryFolder extends AsyncDisposable {
  /** Where a socket may be. */
  readonly path: string;
}

async function temporaryFolder(): Promise<TemporaryFolder> {
  const folder = await mkdtemp(join(tmpdir(), "fw-unix-"));
  return {
    path: join(folder, "app.sock"),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
