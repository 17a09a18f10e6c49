/**
 * A response that is written while it is sent.
 *
 *     deno run -A examples/streaming.ts
 *     curl -N http://localhost:3000/countdown/5
 */
import { streamText } from "hono/streaming";
import * as v from "valibot";
import { controller, FwFactory, module, portFromEnv, route } from "../mod.ts";

const From = v.object({
  from: v.pipe(
    v.string(),
    v.regex(/^[1-9]\d?$/),
    v.transform(Number),
    v.integer(),
    v.minValue(1),
    v.maxValue(99),
  ),
});

class CountdownController extends controller() {
  countdown = route.get(
    "/countdown/:from",
    {
      params: From,
      openapi: { responses: { 200: { description: "A line a count", contentType: "text/plain" } } },
    },
    ({ params }, c) =>
      streamText(c, async (stream) => {
        for (let left = params.from; left > 0 && !stream.aborted; left--) {
          await stream.writeln(String(left));
          await stream.sleep(100);
        }
        await stream.writeln("lift-off");
      }),
  );
}

export const AppModule = module({ name: "AppModule", controllers: [CountdownController] });

if (import.meta.main) {
  const app = await FwFactory.create(AppModule);
  const server = await app.listenGraceful(portFromEnv());
  console.log(`Try: curl -N ${server.url}/countdown/5`);
}
