/** A server that logs requests, and then ends as its argument says. */
import { getLogger } from "@logtape/logtape";
import process from "node:process";
import { FwFactory, module } from "../../mod.ts";

const app = await FwFactory.create(module({}));
app.useRequestTracing();
const server = await app.listen(0);
const get = (path: string) => app.request(path);
await get("/1");
await get("/2");
getLogger(["fw", "test"]).warn("a warning");
await get("/3");
switch (process.argv[2]) {
  case "exit":
    process.exit(0);
    break;
  case "throw":
    setTimeout(() => {
      throw new Error("an end");
    });
    break;
  case "reject":
    Promise.reject(new Error("an end"));
    break;
  case "serve":
    break;
  default:
    await server.close();
    await app.close();
}
