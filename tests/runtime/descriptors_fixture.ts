/** An application that answers with the body of a request, until a signal. Its argument: a socket. */
import process from "node:process";
import { controller, FwFactory, module, route, upgradeWebSocket } from "../../mod.ts";

class EchoController extends controller() {
  echo = route.post("/echo", async (_, c) => {
    console.log("asked for /echo");
    return c.text(await c.req.text());
  });
  socket = route.get("/socket", (_, c) =>
    upgradeWebSocket(c, {
      onMessage: (event, socket) => socket.send(`echo ${event.data}`),
    }));
}

const [path] = process.argv.slice(2);
const app = await FwFactory.create(module({ controllers: [EchoController] }));
const { url } = await app.enableHealthCheck().listenGraceful(
  path ? { path } : 0,
  path ? { lameDuckMs: 0 } : { hostname: "127.0.0.1", lameDuckMs: 0 },
);
console.log(`listening on ${url}`);
