/** The client of `createTestApplication`, whose calls end before their answer is whole. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { controller, module, route } from "../../mod.ts";
import { createTestApplication } from "../../src/testing/mod.ts";
import { test } from "../support/test.ts";

const started = new EventTarget();
const left: string[] = [];

/** A body that never ends, which notes that nobody reads it any more. */
function endless(name: string): Response {
  const start = (it: ReadableStreamDefaultController) => it.enqueue(new TextEncoder().encode("a"));
  return new Response(new ReadableStream({ start, cancel: () => void left.push(name) }));
}

/** Waits for the caller to leave. */
function leaves(signal: AbortSignal): Promise<unknown> {
  const aborted = once(signal, "abort");
  started.dispatchEvent(new Event("call"));
  return aborted;
}

class SlowController extends controller() {
  never = route.get("/never", async (_, c) => {
    await leaves(c.req.raw.signal);
    left.push("never");
    return await new Promise<Response>(() => {});
  });
  late = route.get("/late", async (_, c) => {
    await leaves(c.req.raw.signal);
    return endless("late");
  });
  stream = route.get("/stream", () => endless("stream"));
}
const SlowModule = module({ controllers: [SlowController] });

test("the client of a test ends a call within its time limit", async () => {
  const app = await createTestApplication(SlowModule);
  left.length = 0;
  const late = (path: string) => ({
    name: "TimeoutError",
    message: `Cannot GET ${path}: no answer in 200 ms`,
  });
  await assert.rejects(app.client.get("/never", { timeoutMs: 200 }), late("/never"));
  await assert.rejects(app.client.get("/stream", { timeoutMs: 200 }), late("/stream"));
  await app.close();
  assert.equal(left.at(-1), "stream");
});

test("the client of a test ends a call whose signal aborts", async () => {
  const app = await createTestApplication(SlowModule);
  left.length = 0;
  for (const path of ["/never", "/late"] as const) {
    const leaving = new AbortController();
    const reason = new Error(`leaves ${path}`);
    const isRunning = once(started, "call");
    const call = app.client.get(path, { signal: leaving.signal });
    await isRunning;
    leaving.abort(reason);
    await assert.rejects(call, reason);
    await assert.rejects(app.client.get(path, { signal: leaving.signal }), reason);
  }
  const leaving = new AbortController();
  const response = await app.client.get.response("/stream", { signal: leaving.signal });
  const reader = response.body!.getReader();
  assert.equal(new TextDecoder().decode((await reader.read()).value), "a");
  leaving.abort(new Error("leaves"));
  await assert.rejects(reader.read(), { message: "leaves" });
  await app.close();
  assert.deepEqual(left, ["never", "late", "stream"]);
});
