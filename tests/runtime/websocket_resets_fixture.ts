/**
 * A server of WebSockets that reports how many descriptors its process has. With the argument
 * `bare`, it is a minimal program on `Deno.serve`, without the framework.
 *
 * @module
 */
import { readdirSync } from "node:fs";
import process from "node:process";
import { controller, FwFactory, module, route, upgradeWebSocket } from "../../mod.ts";

const descriptors = () => ({ descriptors: readdirSync("/proc/self/fd").length });

if (process.argv[2] === "bare") {
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, (request) => {
    if (!request.headers.has("upgrade")) return Response.json(descriptors());
    const { socket, response } = Deno.upgradeWebSocket(request);
    setTimeout(() => socket.close(), 100); // does not help
    return response;
  });
  console.log(`listening on http://127.0.0.1:${server.addr.port}`);
} else {
  class SocketsController extends controller() {
    descriptors = route.get("/", descriptors);
    socket = route.get("/socket", (_, c) =>
      upgradeWebSocket(c, {
        onOpen: (_, socket) => socket.send("open"),
      }));
  }
  const app = await FwFactory.create(module({ controllers: [SocketsController] }));
  const { url } = await app.listen(0, { hostname: "127.0.0.1" });
  console.log(`listening on ${url}`);
}
