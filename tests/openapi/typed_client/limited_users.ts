/** The users example, but for a limit of one request per minute and client. */
import { appModule, setUp } from "../../../examples/users.ts";
import { FwFactory } from "../../../mod.ts";

const app = setUp(await FwFactory.create(appModule("sqlite::memory:")));
const server = await app.useRateLimit({ max: 1, name: "one" })
  .listenGraceful(0, { hostname: "127.0.0.1" });
console.log(`Limited at ${server.url}`);
