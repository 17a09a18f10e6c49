/**
 * A WebSocket that echoes its messages.
 *
 *     deno run -A examples/web_socket.ts
 */
import { controller, FwFactory, module, portFromEnv, route, upgradeWebSocket } from "../mod.ts";

class EchoController extends controller() {
  echo = route.get(
    "/echo",
    { openapi: { responses: { 101: "A WebSocket", 426: "It was not asked for a WebSocket" } } },
    (_, c) =>
      upgradeWebSocket(c, {
        onOpen: (_event, socket) => socket.send("welcome"),
        onMessage: (event, socket) => socket.send(`echo ${event.data}`),
      }),
  );
}

export const AppModule = module({ name: "AppModule", controllers: [EchoController] });

if (import.meta.main) {
  const app = await FwFactory.create(AppModule);
  const server = await app.listenGraceful(portFromEnv());
  const url = server.url.replace("http", "ws");
  console.log(`Try in a browser's console:
  new WebSocket("${url}/echo").onmessage = console.log`);
}
