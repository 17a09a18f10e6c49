import assert from "node:assert/strict";
import { connect } from "node:net";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { stopGracefully } from "../../src/runtime/graceful.ts";
import { test } from "../support/test.ts";
import type { LoadResult } from "./load_fixture.ts";
import { RawClient } from "./raw_client.ts";
import { Subprocess, type SubprocessOptions } from "../support/subprocess.ts";

for (const thinkMs of [0, 20]) {
  test(`a server stopped by SIGTERM under keep-alive load loses no request (${thinkMs} ms apart)`, async () => {
    await using server = await start();
    await using load = new Subprocess("tests/runtime/load_fixture.ts", {
      args: [server.port, 20, thinkMs],
    });
    await load.until(/under load/);
    server.process.kill("SIGTERM");

    const { output } = await load.ended;
    const { answered, refused, lost, lastOfConnection } = resultIn(output);
    assert.deepEqual({ refused, lost }, { refused: 0, lost: 0 });
    assert.ok(lastOfConnection >= 20 && answered > lastOfConnection, output);
    assert.deepEqual((await server.process.ended).code, 0);
  });
}

function resultIn(output: string): LoadResult {
  return JSON.parse(lines(output).at(-1)!);
}

test("stopGracefully() stops a process after the requests in flight, then runs its hook", async () => {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    await using server = await start();
    const slow = fetch(`${server.url}/slow`).then((response) => response.text());
    await server.process.until(/asked for/);
    server.process.kill(signal);

    assert.equal(await slow, "slow");
    const { code, output } = await server.process.ended;
    assert.deepEqual([code, lines(output).slice(2)], [0, [`stopping on ${signal}`, "stopped"]]);
  }
});

test("if two applications stop, the last one ends the process", async () => {
  await using process = new Subprocess("tests/runtime/two_applications_fixture.ts");
  await process.until(/ready/);
  process.kill("SIGTERM");
  const { code, output } = await process.ended;
  assert.deepEqual([code, lines(output).slice(1)], [0, ["first stopped", "second stopped"]]);
});

test("a server that stops refuses connections while a request is in flight", async () => {
  await using server = await start({ args: ["", 10_000, 0] });
  let isAnswered = false;
  const slow = fetch(`${server.url}/slow`).then((response) => response.text())
    .finally(() => isAnswered = true);
  await server.process.until(/asked for/);
  server.process.kill("SIGTERM");

  while (await isLetIn(server)) await delay(10);
  assert.equal(isAnswered, false);
  assert.equal(await slow, "slow");
  assert.equal((await server.process.ended).code, 0);
});

test("a server stopped under load finishes a body that is being received, and loses no request", async () => {
  await using server = await start();
  using upload = await RawClient.connect(server);
  upload.send(["POST /upload HTTP/1.1", "Host: localhost", "Content-Length: 8"], "half");
  await server.process.until(/asked for \/upload/);
  await using load = new Subprocess("tests/runtime/load_fixture.ts", {
    args: [server.port, 20, 0],
  });
  await load.until(/under load/);
  server.process.kill("SIGTERM");
  await delay(1_500); // the end of the lame duck, and more than that
  upload.socket.write("done");
  assert.match(await upload.end(), /^HTTP\/1\.1 200 [^]*halfdone$/);

  const { output } = await load.ended;
  const { refused, lost } = resultIn(output);
  assert.deepEqual({ refused, lost }, { refused: 0, lost: 0 });
  assert.equal((await server.process.ended).code, 0);
});

for (const when of ["at the signal", "when the listener closes"] as const) {
  test(`a server whose event loop is held up ${when} answers what has come meanwhile`, async () => {
    const args = when === "at the signal" ? ["", 10_000, 0] : ["block", 10_000, 400];
    await using server = await start({ args });
    using idle = await RawClient.connect(server);
    idle.send(GET);
    await idle.take(/ok$/);
    using first = when === "at the signal" ? await RawClient.connect(server) : undefined;
    first?.send(["GET /block HTTP/1.1", "Host: localhost"]);
    if (!first) server.process.kill("SIGTERM");
    await server.process.until(/held up/);
    if (first) server.process.kill("SIGTERM");
    const clients = await Promise.all(Array.from({ length: 40 }, () => RawClient.connect(server)));
    for (const client of [idle, ...clients]) client.send(GET);

    for (const client of [idle, ...clients]) {
      assert.match(await client.end(), /^HTTP\/1\.1 200 [^]*ok$/);
      client.socket.destroy();
    }
    assert.equal((await server.process.ended).code, 0);
  });
}

test("a server that stops sends a large response completely, then closes the connection", async () => {
  await using server = await start({ args: ["", 10_000, 0] });
  const received = readSlowly(server.port, "/big");
  await delay(200);
  const started = performance.now();
  server.process.kill("SIGTERM");

  assert.ok(await received > 20_000_000);
  assert.equal((await server.process.ended).code, 0);
  assert.ok(performance.now() - started < 8_000);
});

test("a stream that never ends is closed after drainMs", async () => {
  await using server = await start({ args: ["", 300] });
  const response = await fetch(`${server.url}/endless`);
  const started = performance.now();
  server.process.kill("SIGTERM");

  await assert.rejects(response.arrayBuffer());
  const { code, output } = await server.process.ended;
  assert.deepEqual([code, lines(output).slice(1)], [0, ["stopping on SIGTERM", "stopped"]]);
  assert.ok(performance.now() - started < 8_000);
});

test("drainMs limits a stop while each turn of the event loop is held up", async () => {
  await using server = await start({ args: ["blocks", 1_000, 0] });
  const started = performance.now();
  server.process.kill("SIGTERM");
  assert.equal((await server.process.ended).code, 0);
  // the most turns would take 35 s, and several are over before the process ends
  assert.ok(performance.now() - started < 17_000);
});

test("a server that stops closes WebSockets with 1001", async () => {
  await using server = await start();
  const socket = new WebSocket(`${server.url.replace("http", "ws")}/socket`);
  const closed = new Promise<CloseEvent>((resolve) => socket.onclose = resolve);
  await new Promise((resolve) => socket.onopen = resolve);
  server.process.kill("SIGTERM");

  const { code, reason, wasClean } = await closed;
  assert.deepEqual([code, reason, wasClean], [1001, "Server shutting down", true]);
  assert.equal((await server.process.ended).code, 0);
});

test("a process whose stop hook throws exits with 1 after a slow sink has logged the error", async () => {
  await using server = await start({ args: ["throw"] });
  server.process.kill("SIGTERM");

  const { code, output } = await server.process.ended;
  assert.deepEqual(
    [code, lines(output).slice(1)],
    [1, ["stopping on SIGTERM", "fatal: Error: the hook failed"]],
  );
});

test("a second signal ends the process at once, with 128 and the signal's number", async () => {
  for (const [signal, expected] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
    await using server = await start({ args: ["hang"] });
    server.process.kill("SIGTERM");
    await server.process.until(/stopping/);
    await delay(400);
    server.process.kill(signal);

    assert.equal((await server.process.ended).code, expected);
  }
});

test("a signal that a task runner repeats does not end the process", async () => {
  await using server = await start();
  server.process.kill("SIGINT");
  await server.process.until(/stopping/);
  server.process.kill("SIGINT");

  const { code, output } = await server.process.ended;
  assert.deepEqual([code, lines(output).slice(1)], [0, ["stopping on SIGINT", "stopped"]]);
});

test("a server needs only the permission to listen", async () => {
  await using server = await start({ permissions: ["--allow-net=127.0.0.1"] });
  server.process.kill("SIGTERM");
  assert.equal((await server.process.ended).code, 0);
});

test("stopGracefully() returns a function that removes its listeners", () => {
  const events = ["SIGINT", "SIGTERM", "unhandledRejection", "uncaughtException"];
  const count = () => events.map((event) => process.listenerCount(event));
  const before = count();
  const letGo = stopGracefully({ onStop: async () => {} });
  const during = count();
  letGo();
  assert.deepEqual([during, count()], [before.map((n) => n + 1), before]);
});

const GET = ["GET / HTTP/1.1", "Host: localhost"];

interface Running extends AsyncDisposable {
  readonly process: Subprocess;
  readonly url: string;
  readonly port: number;
}

async function start(options?: SubprocessOptions): Promise<Running> {
  const process = new Subprocess("tests/runtime/server_fixture.ts", options);
  const url = await process.until(/http:\S+/);
  return {
    process,
    url,
    port: Number(new URL(url).port),
    [Symbol.asyncDispose]: () => process[Symbol.asyncDispose](),
  };
}

function isLetIn({ url }: Running): Promise<boolean> {
  return fetch(`${url}/`).then((response) => response.text()).then(() => true, () => false);
}

function lines(output: string): string[] {
  return output.trim().split("\n");
}

/** Reads a response slowly until the server closes the connection; returns its length with its head. */
async function readSlowly(port: number, path: string): Promise<number> {
  const socket = connect({ port, host: "127.0.0.1" });
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  let length = 0;
  for await (const chunk of socket) {
    length += chunk.length;
    await delay(2);
  }
  return length;
}
