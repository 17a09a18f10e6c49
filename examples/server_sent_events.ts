/**
 * Server-sent events: a clock that ticks in the browser.
 *
 *     deno run -A examples/server_sent_events.ts
 *     curl -N http://localhost:3000/ticks
 */
import { streamSSE } from "hono/streaming";
import { controller, FwFactory, module, portFromEnv, route } from "../mod.ts";

class TicksController extends controller() {
  ticks = route.get(
    "/ticks",
    {
      openapi: {
        responses: { 200: { description: "A tick a line", contentType: "text/event-stream" } },
      },
    },
    (_, c) =>
      streamSSE(c, async (stream) => {
        for (let id = 1; !stream.aborted; id++) {
          await stream.writeSSE({ event: "tick", id: String(id), data: new Date().toISOString() });
          await stream.sleep(100);
        }
      }),
  );
}

export const AppModule = module({ name: "AppModule", controllers: [TicksController] });

if (import.meta.main) {
  const app = await FwFactory.create(AppModule);
  const server = await app.listenGraceful(portFromEnv());
  console.log(`Try: curl -N ${server.url}/ticks`);
}
