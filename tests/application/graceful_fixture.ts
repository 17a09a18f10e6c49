/** An application with a health check, which a signal stops after a time. */
import { FwFactory, module } from "../../mod.ts";

const app = await FwFactory.create(module({}));
const { url } = await app.enableHealthCheck().listenGraceful(0, {
  hostname: "127.0.0.1",
  lameDuckMs: 10_000,
});
console.log(`listening on ${url}`);
