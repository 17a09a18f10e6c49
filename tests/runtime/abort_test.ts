import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { controller, FwFactory, module, route } from "../../mod.ts";
import { serve } from "../../src/runtime/listen.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test } from "../support/test.ts";
import { RawClient } from "./raw_client.ts";
import { RUNTIME } from "./runtime_name.ts";

const LOCAL = { port: 0, hostname: "127.0.0.1" };
const GET = ["GET / HTTP/1.1", "Host: localhost"];
const POST = ["POST / HTTP/1.1", "Host: localhost", "Content-Length: 2"];

for (const [what, head, body] of [["GET", GET, ""], ["POST", POST, "hi"]] as const) {
  test(`a client that disconnects before the response to its ${what} aborts the request's signal`, async () => {
    const seen = observer();
    await using server = await serve(async (request) => {
      await request.text();
      seen.watch(request.signal);
      await seen.aborted;
      return new Response("nobody reads it");
    }, LOCAL);
    using client = await RawClient.connect(server);
    client.send(head, body);
    await seen.watched;
    client.socket.destroy();

    await seen.aborted;
  });

  test(`a client that disconnects during the response to ${what} aborts the signal and cancels the stream`, async () => {
    const seen = observer();
    const cancelled = Promise.withResolvers<void>();
    await using server = await serve(async (request) => {
      await request.text();
      seen.watch(request.signal);
      return new Response(ticking(() => cancelled.resolve()));
    }, LOCAL);
    using client = await RawClient.connect(server);
    client.send(head, body);
    await client.until(/tick/);
    client.socket.destroy();

    await Promise.all([seen.aborted, cancelled.promise]);
  });

  test(`the signal of a ${what} does not abort after the response`, async () => {
    const signals: AbortSignal[] = [];
    await using server = await serve(async (request) => {
      await request.text();
      signals.push(request.signal);
      return new Response(signals.length === 1 ? "all" : chunks(["al", "l"]));
    }, LOCAL);
    for (const _ of ["at once", "streamed"]) {
      using client = await RawClient.connect(server);
      client.send([...head, "Connection: close"], body);
      assert.match(await client.end(), /al[^]*l/);
    }
    await delay(100);

    // Without `--unstable-no-legacy-abort`, Deno aborts it after a stream.
    assert.deepEqual(signals.map(({ aborted }) => aborted), [false, RUNTIME === "deno"]);
  });
}

test("the signal of a request whose body is limited does not abort after the response", () =>
  captureLogs(["fw"], async () => {
    const signals: AbortSignal[] = [];
    class ReadingController extends controller() {
      read = route.post("/", async (_, c) => {
        signals.push(c.req.raw.signal);
        return await c.req.text();
      });
    }
    await using app = await FwFactory.create(module({ controllers: [ReadingController] }));
    await using server = await app.listen(0, { hostname: "127.0.0.1" });
    using client = await RawClient.connect(server);
    const head = ["POST / HTTP/1.1", "Host: localhost", "Connection: close"];
    client.send([...head, "Transfer-Encoding: chunked"], "2\r\nhi\r\n0\r\n\r\n");
    assert.match(await client.end(), /"?hi/);
    await delay(100);
    assert.deepEqual(signals.map(({ aborted }) => aborted), [false]);
  }));

test("c.req.raw.signal of a route aborts when the client disconnects", () =>
  captureLogs(["fw"], async () => {
    const seen = observer();
    class SlowController extends controller() {
      slow = route.get("/", async (_, c) => {
        seen.watch(c.req.raw.signal);
        await seen.aborted;
        return "nobody reads it";
      });
    }
    await using app = await FwFactory.create(module({ controllers: [SlowController] }));
    const server = await app.listen(0, { hostname: "127.0.0.1" });
    using client = await RawClient.connect(server);
    client.send(GET);
    await seen.watched;
    client.socket.destroy();

    await seen.aborted;
  }));

/** Resolves when a signal is watched, and when it has aborted. */
function observer() {
  const watched = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<void>();
  return {
    watched: watched.promise,
    aborted: aborted.promise,
    watch(signal: AbortSignal): void {
      signal.addEventListener("abort", () => aborted.resolve());
      watched.resolve();
    },
  };
}

function ticking(cancel: () => void): ReadableStream<Uint8Array> {
  let timer: ReturnType<typeof setInterval>;
  return new ReadableStream({
    start(controller) {
      timer = setInterval(() => controller.enqueue(new TextEncoder().encode("tick")), 10);
    },
    cancel() {
      clearInterval(timer);
      cancel();
    },
  });
}

function chunks(words: readonly string[]): ReadableStream<Uint8Array> {
  return ReadableStream.from(words).pipeThrough(new TextEncoderStream());
}
