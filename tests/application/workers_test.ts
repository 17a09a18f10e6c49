import assert from "node:assert/strict";
import process from "node:process";
import { streamSSE } from "hono/streaming";
import {
  controller,
  FwFactory,
  inject,
  module,
  type OnModuleInit,
  type OnWorkersStart,
  type OnWorkersStop,
  route,
  type WorkersStart,
} from "../../mod.ts";
import { freePort } from "../support/free_port.ts";
import { test } from "../support/test.ts";

class Log {
  readonly lines: string[] = [];
}

class Queue implements OnModuleInit, OnWorkersStart, OnWorkersStop {
  readonly #log = inject(Log).lines;

  onModuleInit(instances: readonly object[] = []): void {
    this.#log.push(`init of ${instances.map(({ constructor }) => constructor.name)}`);
  }
  onWorkersStart({ isServing }: WorkersStart): void {
    this.#log.push(`start, serving: ${isServing}`);
  }
  onWorkersStop({ drainMs }: { readonly drainMs: number }): void {
    this.#log.push(`stop, in time: ${drainMs > 0 && drainMs <= 5000}`);
    throw new Error("it is logged");
  }
  onApplicationShutdown(): void {
    this.#log.push("shutdown");
  }
}

const QueueModule = () => module({ name: "QueueModule", providers: [Log, Queue] });

test("listen() and startWorkers() start workers once each, and close() stops them first", async () => {
  const app = await FwFactory.create(QueueModule());
  const { lines } = app.get(Log);
  await app.request("/");
  assert.deepEqual(lines.splice(0), ["init of Log,Queue"]);
  await app.listen(0, { hostname: "127.0.0.1" });
  await app.listen(0, { hostname: "127.0.0.1" });
  await app.startWorkers();
  await app.startWorkers();
  assert.deepEqual(lines.splice(0), ["start, serving: true", "start, serving: false"]);
  await app.close({ drainMs: 5000 });
  assert.deepEqual(lines, ["stop, in time: true", "shutdown"]);
  await assert.rejects(
    app.startWorkers(),
    new TypeError("Cannot start workers: the application is closed"),
  );
});

test("listen() closes its server if workers cannot start, and the next call starts them", async () => {
  let starts = 0;
  class Broken implements OnWorkersStart {
    onWorkersStart(): void {
      if (starts++ === 0) throw new Error("no broker");
    }
  }
  const app = await FwFactory.create(module({ name: "BrokenModule", providers: [Broken] }));
  const port = await freePort();
  const listen = () => app.listen(port, { hostname: "127.0.0.1" });
  await assert.rejects(listen(), new Error("no broker"));
  await assert.rejects(fetch(`http://127.0.0.1:${port}/`)); // nobody listens
  await listen();
  assert.equal(starts, 2);
  const response = await fetch(`http://127.0.0.1:${port}/`);
  await response.body?.cancel();
  assert.equal(response.status, 404);
  await app.close();
});

test("onWorkersStop ends a stream, for which close() would wait", async () => {
  class TicksController extends controller() implements OnWorkersStop {
    #isStopping = false;
    ticks = route.get("/", (_, c) =>
      streamSSE(c, async (stream) => {
        while (!stream.aborted && !this.#isStopping) {
          await stream.writeSSE({ data: "tick" });
          await stream.sleep(20);
        }
        await stream.writeSSE({ data: "last" });
      }));
    onWorkersStop(): void {
      this.#isStopping = true;
    }
  }
  const app = await FwFactory.create(module({ controllers: [TicksController] }));
  const { url } = await app.listen(0, { hostname: "127.0.0.1" });
  const response = await fetch(url);
  await app.close({ drainMs: Infinity });
  assert.match(await response.text(), /^data: tick\n\n[^]*data: last\n\n$/);
});

test("signals still stop workers after a listenGraceful() that fails", async () => {
  const listeners = () => process.listeners("SIGTERM").length;
  const before = listeners();
  const app = await FwFactory.create(QueueModule());
  const fails = () => assert.rejects(app.listenGraceful(-1), { name: "RangeError" });
  await fails();
  assert.equal(listeners(), before); // nothing runs
  await app.startWorkers();
  await fails();
  assert.equal(listeners(), before + 1);
  await app.close();
  assert.equal(listeners(), before);
});

test("signals stop the workers that have started before one that fails", async () => {
  const before = process.listeners("SIGTERM").length;
  class Broken implements OnWorkersStart {
    readonly #queue = inject(Queue);
    onWorkersStart(): void {
      throw new Error(`no broker for ${typeof this.#queue}`);
    }
  }
  const app = await FwFactory.create(module({ providers: [Log, Queue, Broken] }));
  await assert.rejects(app.startWorkers(), new Error("no broker for object"));
  assert.equal(process.listeners("SIGTERM").length, before + 1);
  await app.close({ drainMs: 5000 });
  assert.deepEqual(app.get(Log).lines.slice(1), [
    "start, serving: false",
    "stop, in time: true",
    "shutdown",
  ]);
});

test("startWorkers() of a preview fails", async () => {
  const app = await FwFactory.create(QueueModule(), { preview: true });
  await assert.rejects(
    app.startWorkers(),
    new TypeError("Cannot serve: the application is a preview"),
  );
});
