import assert from "node:assert/strict";
import { isUnreadText } from "../../src/platform/light_response.ts";
import { controller, FwFactory, module, route } from "../../mod.ts";
import { testOn } from "../support/test.ts";

testOn(["node"], "its subject is @hono/node-server")(
  "a response of text is sent without a response of Node, until something reads it",
  async () => {
    const sent: boolean[] = [];
    class TextController extends controller() {
      text = route.get("/text", {
        interceptors: [async (_, next) => {
          const response = await next() as Response;
          sent.push(isUnreadText(response));
          return response;
        }],
      }, (_, c) => c.text("hello"));
      read = route.get("/read", (_, c) => {
        const response = c.text("hello");
        sent.push(isUnreadText(response));
        void response.body;
        sent.push(isUnreadText(response));
        return response;
      });
    }
    const app = await FwFactory.create(module({ controllers: [TextController] }));
    await using server = await app.listen(0);
    for (const path of ["/text", "/read"]) {
      const response = await fetch(new URL(path, server.url));
      assert.deepEqual([response.status, await response.text()], [200, "hello"]);
    }
    assert.deepEqual(sent, [true, true, false]);
  },
);
