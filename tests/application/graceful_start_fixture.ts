/**
 * An application whose start fails, or takes a time. Its argument: `retry` listens on a port in use
 * and then on another, `together` on both a wrong and a free port at once, `failing` has a start
 * hook that fails a second after it has begun.
 */
import { once } from "node:events";
import { createServer } from "node:net";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { type CanActivate, controller, FwFactory, module, route } from "../../mod.ts";

const LOCAL = { hostname: "127.0.0.1", lameDuckMs: 0 };
const [how] = process.argv.slice(2);

class PoolController extends controller() {
  slow = route.get("/slow", async () => {
    console.log("asked for /slow");
    await delay(1_000);
    return "slow";
  });
  async onModuleDestroy() {
    await delay(200);
    console.log("pool closed");
  }
}

class SlowGuard implements CanActivate {
  async onModuleInit() {
    if (how === "retry" || how === "together") return;
    console.log("start begins");
    await delay(1_000);
    console.log("start ends");
    if (how === "failing") throw new Error("no start");
  }
  canActivate() {
    return true;
  }
  onApplicationShutdown(signal?: string) {
    console.log(`stopped on ${signal}`);
  }
}

const app = await FwFactory.create(module({ controllers: [PoolController] }));
app.useGlobalGuards(SlowGuard);
if (how === "retry") {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as { port: number };
  await app.listenGraceful(port, LOCAL).catch(({ code }) => console.log(code));
  other.close();
}
if (how === "together") app.listenGraceful(-1, LOCAL).catch(({ name }) => console.log(name));
await app.listenGraceful(0, LOCAL);
console.log("it listens");
