/**
 * An application with a health check, which a signal stops after a time. Its routes fail after their
 * responses. Its arguments: `lameDuckMs`, and `own` for a listener of its own.
 */
import process from "node:process";
import { controller, FwFactory, module, type OnApplicationShutdown, route } from "../../mod.ts";

const [lameDuckMs = "10000", own] = process.argv.slice(2);
const released = Promise.withResolvers<void>();

class FaultsController extends controller() {
  slow = route.get("/slow", async () => {
    console.log("asked for /slow");
    await released.promise;
    return "slow";
  });
  release = route.get("/release", () => {
    released.resolve();
    return "released";
  });
  reject = route.get("/reject", () => {
    void rejectLater();
    return "answered";
  });
  value = route.get("/value", () => {
    void Promise.reject("a plain string");
    return "answered";
  });
  throws = route.get("/throw", () => {
    setTimeout(() => {
      throw new Error("nothing catches this exception");
    });
    return "answered";
  });
}

async function rejectLater(): Promise<void> {
  await Promise.resolve();
  throw new Error("nothing catches this rejection");
}

class Hook implements OnApplicationShutdown {
  onApplicationShutdown(signal?: string): void {
    console.log(`stopped on ${signal}`);
  }
}

if (own) process.on("unhandledRejection", (error) => console.log(`own: ${error}`));
const app = await FwFactory.create(
  module({ controllers: [FaultsController], providers: [Hook] }),
);
const { url } = await app.enableHealthCheck().listenGraceful(0, {
  hostname: "127.0.0.1",
  lameDuckMs: Number(lameDuckMs),
});
console.log(`listening on ${url}`);
