/**
 * A process that boots an application of which there is something to warn, in the ways that its arguments
 * say, one after the other; all that it says itself is on stderr, where warnings are, and in their order.
 *
 * @module
 */
import { configureSync } from "@logtape/logtape";
import process from "node:process";
import * as v from "valibot";
import { controller, FwFactory, module, route } from "../../mod.ts";

class TagsController extends controller("tags") {
  all = route.get("/", { response: v.set(v.string()) }, () => new Set<string>());
}

const app = await FwFactory.create(module({ name: "AppModule", controllers: [TagsController] }));
app.enableOpenApi();
for (const way of process.argv.slice(2)) {
  console.error(way);
  if (way === "configure") {
    configureSync({
      sinks: { own: ({ message }) => console.error(`own: ${message.map(String).join("")}`) },
      loggers: [
        { category: "fw", sinks: ["own"], lowestLevel: "warning" },
        { category: ["logtape", "meta"], sinks: [] },
      ],
    });
  }
  if (way === "ready") await app.ready();
  if (way === "request") await app.request("/openapi.json");
  if (way === "fetch") await app.fetch(new Request("http://localhost/openapi.json"));
  if (way === "listen") await app.listen(0, { hostname: "127.0.0.1" });
}
console.error("end");
await app.close();
