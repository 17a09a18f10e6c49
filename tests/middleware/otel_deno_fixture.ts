/** Answers one traced request on a server of Deno, whose instrumentation prints the spans. */
import { Hono } from "hono";
import { markRoute } from "../../src/core/http/matched_route.ts";
import { requestTracing } from "../../src/middleware/request_tracing.ts";

const app = new Hono().use(requestTracing());
app.get("/users/:id", markRoute((c) => c.text("shown"), { method: "GET", path: "/users/:id" }));

const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, app.fetch);
const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const url = `http://127.0.0.1:${server.addr.port}/users/7`;
await (await fetch(url, { headers: { traceparent } })).text();
await server.shutdown();
