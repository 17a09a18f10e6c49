import assert from "node:assert/strict";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ListenError } from "../../src/runtime/listen_error.ts";
import type { HttpServer } from "../../src/runtime/http_server.ts";
import { serve } from "../../src/runtime/listen.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { test, testOn } from "../support/test.ts";
import { LOCALHOST } from "./certificate_fixture.ts";
import { RawClient } from "./raw_client.ts";

const testOnDeno = testOn(["deno"], "the listener of others closes at once");
const LOCAL = { port: 0, hostname: "127.0.0.1" };
const ok = () => new Response("ok");

test("serve() listens on all addresses, IPv4 and IPv6, on a port of its choice", async () => {
  await using server = await serve(ok, { port: 0 });

  assert.ok(server.port > 0);
  assert.deepEqual([server.hostname, server.url], ["::", `http://localhost:${server.port}`]);
  for (const host of ["127.0.0.1", "[::1]"]) {
    assert.equal(await get(`http://${host}:${server.port}/`), "ok");
  }
});

test("serve() listens on one address, which is in the URL", async () => {
  const urls: Record<string, string> = {
    "127.0.0.1": "http://127.0.0.1",
    "::1": "http://[::1]",
    "0.0.0.0": "http://localhost",
  };
  for (const [hostname, origin] of Object.entries(urls)) {
    await using server = await serve(ok, { port: 0, hostname });
    assert.deepEqual([server.hostname, server.url], [hostname, `${origin}:${server.port}`]);
    assert.equal(await get(server.url), "ok");
  }
});

test("serve() takes the path from the request line, not from the Host", async () => {
  const path = (request: Request) => new Response(new URL(request.url).pathname);
  await using server = await serve(path, { port: 0, hostname: "127.0.0.1" });
  const answer = async (head: string) => {
    const text = await raw(server.port, `GET /health ${head}\r\nConnection: close\r\n\r\n`);
    return [text.split(" ")[1], text.split("\r\n\r\n")[1]?.includes("/health") ?? false];
  };
  assert.deepEqual(await answer("HTTP/1.1\r\nHost: example.com:80"), ["200", true]);
  assert.deepEqual(await answer("HTTP/1.0"), ["200", true]);
  const tunnel = await raw(
    server.port,
    "CONNECT h:80 HTTP/1.1\r\nHost: h:80\r\nConnection: close\r\n\r\n",
  );
  assert.ok(!tunnel.includes(" 200 "), tunnel);
  for (const host of ["h/evil?", "h?", "h#", "a@b", "h:99999", "[", "%"]) {
    const [status, isHealth] = await answer(`HTTP/1.1\r\nHost: ${host}`);
    assert.ok(status === "400" || isHealth, `${host} ${status}`);
  }
});

test("serve() refuses an invalid port", async () => {
  for (const port of [-1, 65_536, 1.5, NaN, "3000" as unknown as number]) {
    await assert.rejects(serve(ok, { port }), {
      name: "RangeError",
      message: `Cannot listen on port ${port}: it is not an integer from 0 to 65535`,
    });
  }
});

test("serve() reports a port in use with the same message on every runtime", async () => {
  await using first = await serve(ok, { port: 0, hostname: "0.0.0.0" });
  const { port } = first;
  for (
    const [hostname, shown] of [["0.0.0.0", "0.0.0.0"], ["127.0.0.1", "127.0.0.1"], [
      undefined,
      "[::]",
    ]]
  ) {
    const error = await serve(ok, { port, ...hostname && { hostname } }).then(() => {}, (e) => e);
    assert.ok(error instanceof ListenError && error.cause instanceof Error);
    assert.equal(error.code, "AddressInUse");
    assert.equal(error.message, `Cannot listen on ${shown}:${port}: the address is in use`);
  }
});

test("serve() reports an address that the machine does not have", async () => {
  await assert.rejects(serve(ok, { port: 0, hostname: "192.0.2.1" }), {
    name: "ListenError",
    code: "AddressNotAvailable",
    message: "Cannot listen on 192.0.2.1:0: this machine does not have the address",
  });
});

test("serve() passes the runtime's information about the connection to handlers", async () => {
  let address: unknown;
  await using server = await serve((request, env) => {
    const { remoteAddr, requestIP, incoming } = env as {
      remoteAddr?: { hostname: string };
      requestIP?: (request: Request) => { address: string };
      incoming?: { socket: { remoteAddress: string } };
    };
    address = remoteAddr?.hostname ?? incoming?.socket.remoteAddress ??
      (env as { requestIP: typeof requestIP }).requestIP?.(request).address;
    return ok();
  }, { port: 0, hostname: "127.0.0.1" });
  await get(server.url);

  assert.equal(address, "127.0.0.1");
});

test("serve() sends responses of handlers and of fetch", async () => {
  await using origin = await serve(() => new Response("far", { status: 201 }), { port: 0 });
  const early = new Response("early", { headers: { "x-early": "yes" } });
  await using server = await serve(async (request) => {
    if (request.url.endsWith("/early")) return early;
    return await fetch(origin.url);
  }, { port: 0 });

  const first = await fetch(`${server.url}/early`);
  assert.deepEqual([first.headers.get("x-early"), await first.text()], ["yes", "early"]);
  const second = await fetch(`${server.url}/far`);
  assert.deepEqual([second.status, await second.text()], [201, "far"]);
});

test("HttpServer.close() waits for requests in flight and sends Connection: close", async () => {
  using folder = new TemporaryFolder();
  const places = [LOCAL, { ...LOCAL, tls: LOCALHOST }, { path: join(folder.path, "app.sock") }];
  for (const place of places) {
    const arrived = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const server = await serve(async () => {
      arrived.resolve();
      await goOn.promise;
      return new Response("answered");
    }, place);
    using client = await RawClient.connect(server);
    client.send(["GET / HTTP/1.1", "Host: localhost"]);
    await arrived.promise;
    const closed = server.close();
    goOn.resolve();

    assert.match(await client.end(), /^connection: close\r[^]*answered$/im);
    await closed;
    await assert.rejects(RawClient.connect(server));
  }
});

test("HttpServer.close() waits for bodies that are being received", async () => {
  await using server = await serve(async (request) => new Response(await request.text()), {
    port: 0,
    hostname: "127.0.0.1",
  });
  const uploads = await Promise.all(["Content-Length: 8", "Transfer-Encoding: chunked"].map(
    async (framing) => {
      const client = await RawClient.connect(server);
      client.send(
        ["POST / HTTP/1.1", "Host: a", framing],
        framing.includes("8") ? "half" : "4\r\nhalf\r\n",
      );
      return { client, rest: framing.includes("8") ? "done" : "4\r\ndone\r\n0\r\n\r\n" };
    },
  ));
  await delay(300);
  const closed = server.close({ lameDuckMs: 200 });
  using late = await RawClient.connect(server);
  await delay(150); // it waits for the end of the lame duck
  late.send(["POST / HTTP/1.1", "Host: a", "Content-Length: 8"], "late");
  await delay(500);
  late.socket.write("done");
  await late.until(/^HTTP\/1\.1 200 [^]*latedone$/);
  for (const { client, rest } of uploads) {
    client.socket.write(rest);
    await client.until(/^HTTP\/1\.1 200 [^]*halfdone/);
    client.socket.destroy();
  }
  await closed;
});

test("HttpServer.close() waits for a body that is received while its response is sent", async () => {
  await using server = await serve(({ body }) => new Response(body), LOCAL);
  using client = await RawClient.connect(server);
  client.send(post(8), "half");
  await client.until(/^HTTP\/1\.1 200 [^]*half/);
  const closed = server.close({ lameDuckMs: 200 });
  await delay(500);
  client.socket.write("done");
  await client.until(/done/);
  client.socket.destroy();
  await closed;
});

testOnDeno(
  "HttpServer.close() answers requests that come while it waits for a body, or refuses them",
  async () => {
    using folder = new TemporaryFolder();
    for (const place of [LOCAL, { path: join(folder.path, "app.sock") }]) {
      const server = await serve(async (request) => new Response(await request.text()), place);
      using upload = await RawClient.connect(server);
      upload.send(post(8), "half");
      await delay(300);
      const closed = server.close();
      await delay(300);
      using whole = await RawClient.connect(server);
      whole.send(post(8), "complete");
      await whole.until(/^HTTP\/1\.1 200 [^]*complete$/);
      using large = await RawClient.connect(server);
      large.send(post(100_000), "late");
      await large.until(/^HTTP\/1\.1 503 [^]*problem\+json[^]*"The server is stopping"/);
      using slow = await RawClient.connect(server);
      slow.send(post(8), "late");
      await delay(300);
      assert.equal(slow.received, "");
      upload.socket.write("done");
      await upload.until(/^HTTP\/1\.1 200 [^]*halfdone$/);
      await slow.until(/^HTTP\/1\.1 503 [^]*"The server is stopping"/);
      for (const { socket } of [large, slow]) socket.destroy(); // Deno waits for their bodies
      await closed;
    }
  },
);

test("HttpServer.close() closes the connections of bodies that are not complete after drainMs", async () => {
  await using server = await serve(async (request) => new Response(await request.text()), {
    port: 0,
    hostname: "127.0.0.1",
  });
  using client = await RawClient.connect(server);
  client.send(["POST / HTTP/1.1", "Host: a", "Content-Length: 8"], "half");
  await delay(300);
  await server.close({ drainMs: 200 });
  assert.doesNotMatch(await client.end(), /^HTTP\/1\.1 200 /);
  await assert.rejects(RawClient.connect(server));
});

test("HttpServer.close() also sends immutable responses", async () => {
  await using origin = await serve(() => new Response("far", { status: 201 }), { port: 0 });
  const arrived = Promise.withResolvers<void>();
  const server = await serve(async () => {
    const response = await fetch(origin.url);
    arrived.resolve();
    await delay(100);
    return response;
  }, { port: 0 });
  const response = fetch(server.url);
  await arrived.promise;
  await Promise.all([response, server.close()]);

  const { status, headers } = await response;
  assert.deepEqual([status, headers.get("connection")], [201, "close"]);
  assert.equal(await (await response).text(), "far");
});

test("HttpServer.close() closes idle connections at once", async () => {
  const server = await serve(ok, { port: 0 });
  const silent = await open(server);
  const idle = await open(server);
  idle.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await new Promise((resolve) => idle.once("data", resolve));
  const started = performance.now();
  await server.close();

  assert.ok(performance.now() - started < 1_000);
  silent.destroy();
  idle.destroy();
});

test("HttpServer.close() closes the remaining connections at once if drainMs is 0", async () => {
  const arrived = Promise.withResolvers<void>();
  const server = await serve((request) =>
    new Promise<Response>((resolve) => {
      request.signal.addEventListener("abort", () => resolve(new Response()));
      arrived.resolve();
    }), { port: 0 });
  const response = fetch(server.url);
  const failed = assert.rejects(response);
  await arrived.promise;
  await server.close({ drainMs: 0 });

  await failed;
});

test("HttpServer.close() accepts connections for lameDuckMs, and delays the last requests", async () => {
  const server = await serve(ok, { port: 0 });
  const closed = server.close({ lameDuckMs: 400 });
  const response = await fetch(server.url);
  assert.deepEqual([response.headers.get("connection"), await response.text()], ["close", "ok"]);

  let lastMs = 0;
  await assert.rejects(async () => {
    for (;;) {
      const started = performance.now();
      assert.equal(await get(server.url), "ok");
      lastMs = performance.now() - started;
    }
  }, TypeError); // it is refused
  assert.ok(lastMs > 40, `${lastMs} ms`);
  await closed;
});

test("HttpServer.close() closes once, however often it is called", async () => {
  const server = await serve(ok, { port: 0 });
  const closed = server.close();
  assert.equal(server.close(), closed);
  await closed;
  await server[Symbol.asyncDispose]();
});

function post(length: number): readonly string[] {
  return ["POST / HTTP/1.1", "Host: a", `Content-Length: ${length}`];
}

async function get(url: string): Promise<string> {
  return await (await fetch(url)).text();
}

async function open({ port }: HttpServer) {
  const socket = connect({ port, host: "127.0.0.1" });
  await new Promise((resolve) => socket.once("connect", resolve));
  return socket;
}

/** Sends bytes; returns all bytes of the response. */
function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    socket.setEncoding("utf8").on("data", (chunk) => received += chunk);
    socket.setTimeout(5_000, () => socket.destroy());
    socket.on("close", () => resolve(received)).on("error", reject);
  });
}

test("serve() refuses an option that it does not have, or of another type: it would listen elsewhere", async () => {
  const cases: readonly (readonly [object, string])[] = [
    [{ host: "127.0.0.1" }, "host is not an option"],
    [{ hostName: "127.0.0.1" }, "hostName is not an option"],
    [{ cert: "", key: "" }, "cert is not an option"],
    [{ maxConnection: 5 }, "maxConnection is not an option, maxConnections is"],
    [["127.0.0.1"], "the options are not a plain object"],
    ...[5, "", null, {}, ["127.0.0.1"], true]
      .map((hostname) => [{ hostname }, "hostname is not the text of an address"] as const),
    ...[true, "pem", null].map((tls) => [{ tls }, "tls is not a certificate and its key"] as const),
  ];
  for (const [options, why] of cases) {
    await assert.rejects(serve(ok, options), {
      name: "TypeError",
      message: `Cannot listen: ${why}`,
    });
  }
});
