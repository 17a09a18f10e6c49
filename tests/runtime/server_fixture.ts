/**
 * A process that serves until a signal, with a slow log sink. Its arguments: the action of its stop
 * hook, `drainMs`, `lameDuckMs`.
 *
 * @module
 */
import { configure, fromAsyncSink } from "@logtape/logtape";
import { Hono } from "hono";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { stopGracefully } from "../../src/runtime/graceful.ts";
import { serve } from "../../src/runtime/listen.ts";
import { upgradeWebSocket } from "../../src/runtime/websocket/websocket.ts";

const [hook, drainMs, lameDuckMs] = process.argv.slice(2);

const app = new Hono()
  .get("/", (c) => c.text("ok"))
  .get("/slow", async (c) => {
    console.log("asked for /slow");
    await delay(1_000);
    return c.text("slow");
  })
  .post("/upload", async (c) => {
    console.log("asked for /upload");
    return c.text(await c.req.text());
  })
  .get("/block", (c) => {
    block();
    return c.text("blocked");
  })
  .get("/big", (c) => c.body(new Uint8Array(20_000_000)))
  .get("/endless", (c) => c.body(endless()))
  .get("/socket", (c) => upgradeWebSocket(c, {}));

await configure({
  sinks: {
    slow: fromAsyncSink(async ({ level, properties }) => {
      await delay(100);
      console.log(`${level}: ${properties.error}`);
    }),
  },
  loggers: [
    { category: "fw", sinks: ["slow"] },
    { category: ["logtape", "meta"], sinks: [] },
  ],
});

const server = await serve(app.fetch, { port: 0, hostname: "127.0.0.1" });
stopGracefully({
  drainMs: Number(drainMs ?? 10_000),
  lameDuckMs: Number(lameDuckMs ?? 500),
  async onStop(signal, drain) {
    console.log(`stopping on ${signal}`);
    // while requests wait for the listener to close
    if (hook === "block") setTimeout(block, Number(lameDuckMs) - 50);
    if (hook === "blocks") setInterval(block, 1);
    await server.close(drain);
    if (hook === "throw") throw new Error("the hook failed");
    if (hook === "hang") await delay(60_000);
    console.log("stopped");
  },
});
console.log(`listening on ${server.url}`);

/** Holds up the event loop. */
function block(): void {
  console.log("the loop is held up");
  const endMs = performance.now() + 700;
  while (performance.now() < endMs);
}

function endless(): ReadableStream<Uint8Array> {
  let timer: ReturnType<typeof setInterval>;
  return new ReadableStream({
    start(controller) {
      timer = setInterval(() => controller.enqueue(new Uint8Array(10)), 20);
    },
    cancel: () => clearInterval(timer),
  });
}
