/**
 * An application that logs requests. Its arguments: a port, `listen` or `listenGraceful`, and a
 * sink for failures: `failing` raises an uncaught exception for every record, `hanging` never
 * writes one. The exit prints how many records it has received.
 */
import { configure, fromAsyncSink, getLogger } from "@logtape/logtape";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { controller, FwFactory, module, route } from "../../mod.ts";

const [port, how, sink] = process.argv.slice(2);

class FailuresController extends controller() {
  ok = route.get("/ok", () => "ok");
  signal = route.get("/signal", (_, c) => c.text(String(c.req.raw.signal.aborted)));
  error = route.get("/error", () => {
    throw new Error("a failure");
  });
  many = route.get("/many", () => {
    for (let i = 0; i < 3000; i++) getLogger(["fw", "http"]).warn(`line ${i} ${"x".repeat(100)}`);
    return "logged";
  });
  reject = route.get("/reject", () => {
    void Promise.reject(new Error("nothing catches this"));
    return "rejected";
  });
  close = route.get("/close", () => {
    setTimeout(() => app.close());
    return "closed";
  });
}

let records = 0;

/** Keeps the application until it has logged as many failures as it does at most. */
class Failures {
  async onApplicationShutdown(): Promise<void> {
    while (sink === "failing" && records < 100) await delay(1);
  }
}

if (sink) {
  setInterval(() => {}, 1_000); // what keeps a process alive, such as a pool of connections
  process.on("exit", () => console.log(`${records} records`));
  await configure({
    sinks: {
      failing() {
        records++;
        setTimeout(() => {
          throw new Error("cannot write the record");
        });
      },
      hanging: fromAsyncSink(async () => {
        records++;
        await new Promise(() => {});
      }),
    },
    loggers: [
      { category: "fw", lowestLevel: "fatal", sinks: [sink] },
      { category: ["logtape", "meta"], sinks: [] },
    ],
  });
}

const app = await FwFactory.create(
  module({ controllers: [FailuresController], providers: [Failures] }),
);
app.useRequestTracing();
const options = { hostname: "127.0.0.1" };
if (how === "listen") await app.listen(Number(port), options);
else await app.listenGraceful(Number(port), options);
