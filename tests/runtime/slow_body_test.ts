import { HTTPException } from "hono/http-exception";
import { timeout } from "hono/timeout";
import assert from "node:assert/strict";
import * as v from "valibot";
import { controller, FwFactory, module, route } from "../../mod.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test } from "../support/test.ts";
import { RawClient } from "./raw_client.ts";
import { RUNTIME } from "./runtime_name.ts";

const TOO_SLOW = new HTTPException(408, {
  message: "The request took too long",
  res: new Response(null, { headers: { connection: "close" } }),
});

for (const framing of ["Content-Length: 1000", "Transfer-Encoding: chunked"]) {
  test(`timeout() answers 408 to a body with ${framing} that never ends`, () =>
    captureLogs(["fw"], async () => {
      class BodyController extends controller() {
        declared = route.post("/declared", { body: v.unknown() }, ({ body }) => ({ body }));
        text = route.post("/text", async (_, c) => await c.req.text());
      }
      await using app = await FwFactory.create(module({ controllers: [BodyController] }));
      app.use(timeout(200, TOO_SLOW));
      const server = await app.listen(0, { hostname: "127.0.0.1" });
      for (const path of ["/declared", "/text"]) {
        using client = await RawClient.connect(server);
        const head = [`POST ${path} HTTP/1.1`, "Host: x", "Content-Type: application/json"];
        client.send([...head, framing], "1\r\n2\r\n");
        const trickle = setInterval(() => client.socket.write("1\r\n2\r\n"), 50);
        try {
          const [answer] = await client.until(/^HTTP\/1\.1 408 [^]*"status":408[^]*\}/);
          assert.match(answer, /"detail":"The request took too long"/);
          // Deno reads what the client still sends
          if (RUNTIME !== "deno") await client.end();
        } finally {
          clearInterval(trickle);
        }
      }
    }));
}
