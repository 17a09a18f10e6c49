/** A process whose application serves on the Unix socket of its argument until a signal. */
import process from "node:process";
import { FwFactory, module } from "../../mod.ts";

const app = await FwFactory.create(module({}));
app.enableHealthCheck();
await app.listenGraceful({ path: process.argv[2]! }, { lameDuckMs: 0 });
