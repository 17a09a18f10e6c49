import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { controller, FwFactory, module, route, upgradeWebSocket } from "../../mod.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test } from "../support/test.ts";

/** An application whose route passes work to `waitUntil`. */
function leaving(work: () => Promise<unknown>) {
  class LeavingController extends controller() {
    leave = route.get("/", async (_, c) => {
      c.executionCtx.waitUntil(work());
      return await Promise.resolve(c.text("answered"));
    });
  }
  return FwFactory.create(module({ controllers: [LeavingController] }));
}

test("work of waitUntil() continues after the response, and close() waits for it", () =>
  captureLogs(["fw"], async () => {
    const events: string[] = [];
    const app = await leaving(async () => {
      await delay(200);
      events.push("done");
    });
    const { url } = await app.listen(0, { hostname: "127.0.0.1" });
    assert.equal(await (await fetch(url)).text(), "answered");
    events.push("answered");
    await app.close();
    events.push("closed");
    assert.deepEqual(events, ["answered", "done", "closed"]);
  }));

test("close() waits for work that other work of waitUntil() begins", async () => {
  let done = false;
  class TwiceController extends controller() {
    twice = route.get("/", (_, c) => {
      const { waitUntil } = c.executionCtx;
      waitUntil(delay(20).then(() => waitUntil(delay(50).then(() => done = true))));
    });
  }
  const app = await FwFactory.create(module({ controllers: [TwiceController] }));
  await app.request("/");
  await app.close();
  assert.equal(done, true);
});

test("close() waits for the handlers of WebSockets, before the stop hooks", async () => {
  const events: string[] = [];
  const received = Promise.withResolvers<void>();
  class SocketController extends controller() {
    socket = route.get("/", (_, c) =>
      upgradeWebSocket(c, {
        async onMessage() {
          received.resolve();
          await delay(300);
          events.push("handled");
        },
        async onClose() {
          await delay(100);
          events.push("left");
        },
      }));
    onApplicationShutdown() {
      events.push("stopped");
    }
  }
  const app = await FwFactory.create(module({ controllers: [SocketController] }));
  const { url } = await app.listen(0, { hostname: "127.0.0.1" });
  const client = new WebSocket(url.replace("http", "ws"));
  const closed = new Promise((resolve) => client.onclose = resolve);
  client.onopen = () => client.send("?");
  await received.promise;
  await app.close();
  await closed;
  assert.deepEqual([events.slice(0, 2).sort(), events.slice(2)], [["handled", "left"], [
    "stopped",
  ]]);
});

test("a failure of work of waitUntil() is logged, and close() succeeds", () =>
  captureLogs(["fw"], async (records) => {
    const failure = new Error("as this test expects");
    const app = await leaving(() => Promise.reject(failure));
    assert.equal((await app.request("/")).status, 200);
    await app.close();
    assert.deepEqual(
      records.map(({ level, category, properties }) => [level, category, properties.error]),
      [["error", ["fw", "runtime"], failure]],
    );
  }));

test("close() stops waiting for work of waitUntil() after drainMs, and logs it", () =>
  captureLogs(["fw"], async (records) => {
    const end = Promise.withResolvers<void>();
    const app = await leaving(() => end.promise);
    await app.request("/");
    await app.close({ drainMs: 50 });
    assert.deepEqual(
      records.map(({ level, properties }) => [level, properties.count]),
      [["warning", 1]],
    );
    end.resolve();
  }));

test("close() waits without limit for work of waitUntil() if drainMs is Infinity", async () => {
  let done = false;
  const app = await leaving(() => delay(50).then(() => done = true));
  await app.request("/");
  await app.close({ drainMs: Infinity });
  assert.equal(done, true);
});

test("close() does not wait for a health indicator that hangs", () =>
  captureLogs(["fw"], async () => {
    const app = await leaving(() => Promise.resolve());
    const hung = () => new Promise(() => {});
    app.enableHealthCheck("/health", { timeoutMs: 10, indicators: { hung } });
    assert.equal((await app.request("/health")).status, 503);
    const startedMs = performance.now();
    await app.close({ drainMs: 10_000 });
    assert.ok(performance.now() - startedMs < 5_000);
  }));

test("app.fetch() passes work to its execution context, and the request as it is", () =>
  captureLogs(["fw"], async () => {
    const work = Promise.resolve("work");
    const app = await leaving(() => work);
    const handed: Promise<unknown>[] = [];
    const context = {
      waitUntil: (promise: Promise<unknown>) => void handed.push(promise),
      passThroughOnException() {},
      props: {},
    };
    for (const _ of ["the first", "another"]) {
      const response = app.fetch(new Request("http://localhost/"), {}, context);
      assert.equal(await (await response).text(), "answered");
      const results = await Promise.all(handed.splice(0));
      assert.deepEqual(new Set(results), new Set([await response, "work"]));
      assert.equal(results.length, 2);
    }
    await app.close();
  }));

test("close() does not wait for a start hook that never ends", () =>
  captureLogs(["fw", "runtime"], async (records) => {
    class Guard {
      onModuleInit = () => new Promise<void>(() => {});
      canActivate = () => true;
    }
    const app = await leaving(() => Promise.resolve());
    app.useGlobalGuards(Guard);
    void app.ready();
    await app.close({ drainMs: 0 });
    assert.deepEqual(records.map(({ rawMessage }) => rawMessage), [
      "A start hook has not finished before the stop",
    ]);
  }));
