/**
 * A process that fails with errors that refer to the whole input: in a handler, in a handler of a
 * WebSocket, and outside of both, which ends it.
 *
 * @module
 */
import * as v from "valibot";
import { controller, FwFactory, module, route, upgradeWebSocket } from "../../mod.ts";

const Items = v.array(v.object({ name: v.string(), password: v.string() }));

/** Items that are all invalid; each issue refers to all of them. */
const INPUT = JSON.stringify(Array(5_000).fill({ name: 1, password: "", secret: "hunter2" }));

class ParsingController extends controller() {
  post = route.post("/", async (_, c) => v.parse(Items, await c.req.json()).length);
  socket = route.get("/", (_, c) =>
    upgradeWebSocket(c, {
      onMessage: ({ data }) => void v.parse(Items, JSON.parse(String(data))),
    }));
}

const app = await FwFactory.create(module({ controllers: [ParsingController] }));
const server = await app.listenGraceful(0, { hostname: "127.0.0.1", lameDuckMs: 0 });
const startMs = performance.now();
const response = await fetch(server.url, { method: "POST", body: INPUT });
await response.body?.cancel();

const socket = new WebSocket(server.url.replace("http", "ws"));
socket.onopen = () => socket.send(INPUT);
await new Promise((resolve) => socket.onclose = resolve);
console.log(`Both failed in ${Math.round(performance.now() - startMs)} ms`);

Promise.reject(new Error("outside", { cause: v.safeParse(Items, JSON.parse(INPUT)).issues }));
