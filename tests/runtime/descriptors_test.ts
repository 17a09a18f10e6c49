/** More connections than a process may have descriptors: it must not end, nor stay deaf. */
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { Subprocess } from "../support/subprocess.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { test, testOn } from "../support/test.ts";
import { RawClient } from "./raw_client.ts";
import { RUNTIME } from "./runtime_name.ts";

const MAX_OPEN_FILES = 600;
const CONNECTIONS = 700;

for (
  const { what, sent } of [
    { what: "idle connections", sent: "" },
    { what: "connections with half a head", sent: "GET /health HTTP/1.1\r\nHost: a\r\nX-A: " },
  ]
) {
  for (const kind of ["a port", "a Unix socket"] as const) {
    test(`a server on ${kind} survives ${CONNECTIONS} ${what} at a limit of ${MAX_OPEN_FILES} descriptors`, async () => {
      using folder = new TemporaryFolder();
      await using process = new Subprocess("tests/runtime/descriptors_fixture.ts", {
        args: kind === "a port" ? [] : [`${folder.path}/app.sock`],
        maxOpenFiles: MAX_OPEN_FILES,
      });
      const line = await process.until(/listening on (?:http|unix):\S+/);
      const url = line.slice("listening on ".length);
      const port = Number(new URL(url).port);
      assert.match(await answer({ url, port }), /^HTTP\/1.1 200 /);

      using upload = await RawClient.connect({ url, port });
      upload.socket.write("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\nhalf");
      await process.until(/asked for \/echo/);
      const sockets = await hold({ url, port, sent });
      try {
        if (RUNTIME === "deno") await process.until(/Accepting connections failed: /);
        upload.socket.write("done");
        await upload.until(/halfdone/);
        assert.match(upload.received, /^HTTP\/1.1 200 /);
        // elsewhere idle connections keep their descriptors until the runtime closes them
        if (RUNTIME === "deno" && sent === "") await answersAgain({ url, port });
      } finally {
        for (const socket of sockets) socket.destroy();
      }
      await answersAgain({ url, port });

      upload.socket.destroy();
      process.kill("SIGTERM");
      const { code, output } = await process.ended;
      assert.equal(code, 0, output.slice(-2_000));
    });
  }
}

test("a WebSocket outlasts more connections than a server has descriptors", async () => {
  await using process = new Subprocess("tests/runtime/descriptors_fixture.ts", {
    maxOpenFiles: MAX_OPEN_FILES,
  });
  const url = await process.until(/http:\S+/);
  const port = Number(new URL(url).port);
  const socket = new WebSocket(`${url.replace("http", "ws")}/socket`);
  await new Promise((resolve) => socket.onopen = resolve);
  const sockets = await hold({ url, port, sent: "" });
  if (RUNTIME === "deno") await process.until(/Accepting connections failed: /);
  for (const each of sockets) each.destroy();
  await answersAgain({ url, port });

  const received = new Promise<MessageEvent>((resolve) => socket.onmessage = resolve);
  socket.send("hello");
  assert.equal((await received).data, "echo hello");
  const closed = new Promise<CloseEvent>((resolve) => socket.onclose = resolve);
  process.kill("SIGTERM");
  assert.equal((await closed).code, 1001);
  assert.equal((await process.ended).code, 0);
});

testOn(["deno"], "others listen on")(
  "a server that has listened again closes idle connections when its WebSockets have closed",
  async () => {
    await using process = new Subprocess("tests/runtime/descriptors_fixture.ts", {
      maxOpenFiles: MAX_OPEN_FILES,
    });
    const url = await process.until(/http:\S+/);
    const port = Number(new URL(url).port);
    using idle = await RawClient.connect({ url, port });
    idle.send(["GET /health HTTP/1.1", "Host: a"]);
    await idle.until(/^HTTP\/1.1 200 /);
    const socket = new WebSocket(`${url.replace("http", "ws")}/socket`);
    await new Promise((resolve) => socket.onopen = resolve);
    const sockets = await hold({ url, port, sent: "" });
    await process.until(/Accepting connections failed: /);
    for (const each of sockets) each.destroy();
    await answersAgain({ url, port });
    assert.equal(idle.isClosed, false);

    const closed = new Promise((resolve) => socket.onclose = resolve);
    socket.close();
    await closed;
    await idle.end();
  },
);

interface Target {
  readonly url: string;
  readonly port: number;
}

/** Opens connections, of which the server may refuse or close some. */
async function hold({ url, port, sent }: Target & { readonly sent: string }): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let count = 0; count < CONNECTIONS; count++) {
    const socket = url.startsWith("unix:")
      ? connect({ path: new URL(url).pathname })
      : connect({ port, host: "127.0.0.1" });
    sockets.push(socket);
    await new Promise<void>((resolve) => {
      socket.once("connect", resolve).once("close", () => resolve()).on("error", () => {});
    });
    if (sent && socket.writable) socket.write(sent);
  }
  return sockets;
}

/** Waits until the server responds with 200. */
async function answersAgain(target: Target): Promise<void> {
  const deadline = performance.now() + 15_000;
  for (;;) {
    const received = await answer(target);
    if (received.startsWith("HTTP/1.1 200 ")) return;
    if (performance.now() > deadline) throw new Error(`Cannot get an answer: ${received}`);
    await delay(50);
  }
}

/** Requests the health; empty if there is no connection. */
async function answer(target: Target): Promise<string> {
  try {
    using client = await RawClient.connect(target);
    client.socket.write("GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    const deadline = performance.now() + 2_000;
    while (!client.isClosed && performance.now() < deadline) await delay(5);
    return client.received;
  } catch {
    return "";
  }
}
