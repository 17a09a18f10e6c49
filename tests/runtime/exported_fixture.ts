/**
 * An application that is exported, for a runtime that serves it on the port in `PORT`.
 *
 * @module
 */
import process from "node:process";
import { clientIp, controller, FwFactory, module, route } from "../../mod.ts";

class ExportedController extends controller() {
  readonly #kept = new Response("kept");

  address = route.post("/address", { args: { ip: clientIp } }, ({ ip }) => ip ?? "unknown");
  hello = route.get("/hello", () => "hello");
  admin = route.get("/admin", () => "admin");
  stream = route.get("/stream", () => new Response(new Blob(["streamed"]).stream()));
  kept = route.get("/kept", () => this.#kept);
  download = route.get("/download", (_, c) => {
    c.header("content-disposition", `attachment; filename="${c.req.query("name")}"`);
    return "file";
  });
}

const app = await FwFactory.create(module({ controllers: [ExportedController] }));
app.use(async (c, next) => {
  await next();
  c.res.headers.append("set-cookie", `user=${c.req.query("user")}`);
});

export default { fetch: app.fetch, hostname: "127.0.0.1", port: Number(process.env.PORT) };
