/** Logs two requests at a time on a server of Deno, which exports what the console prints. */
import { controller, FwFactory, module, route } from "../../mod.ts";

class UsersController extends controller("users") {
  one = route.get("/:id", ({ params }) => params.id);
}
const app = await FwFactory.create(module({ controllers: [UsersController] }));
const server = await app.useRequestTracing().listen(0, { hostname: "127.0.0.1" });
await Promise.all(["1", "2"].map(async (id) => {
  const traceparent = `00-${id.repeat(32)}-b7ad6b7169203331-01`;
  await (await fetch(`${server.url}/users/${id}`, { headers: { traceparent } })).text();
}));
await app.close();
