/** Runs a schedule until it is killed. Its argument: the URL of the database. */
import process from "node:process";
import { ticksApp } from "./instances_app.ts";

const app = await ticksApp(process.argv[2] ?? "");
await app.startWorkers();
console.log("working");
