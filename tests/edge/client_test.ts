/** The client of an application in workerd: every route of the kitchen sink. */
import assert from "node:assert/strict";
import { createClient } from "../../src/client/mod.ts";
import { FwFactory } from "../../mod.ts";
import { ChatModule, type Chats, TALK, talk } from "../client/chat.ts";
import { createKitchen, type Kitchen } from "../client/kitchen.ts";
import { callKitchen, KITCHEN_RESULTS } from "../client/kitchen_calls.ts";
import { test } from "../support/test.ts";
import { bundle } from "./bundle.ts";
import { Worker } from "./worker.ts";

/** The kitchen sink and chats; `/calls` calls them, or the server at `url`. */
const { code } = await bundle(`
  import { createClient } from "./src/client/mod.ts";
  import { createKitchen } from "./tests/client/kitchen.ts";
  import { FwFactory } from "./mod.ts";
  import { ChatModule, talk } from "./tests/client/chat.ts";
  import { callKitchen } from "./tests/client/kitchen_calls.ts";

  const app = await createKitchen();
  const chats = (await FwFactory.create(ChatModule)).enableUriVersioning();
  async function fetch(request, ...rest) {
    const { pathname, searchParams } = new URL(request.url);
    const url = searchParams.get("url");
    if (pathname === "/talk") return Response.json(await talk(createClient(url)));
    if (pathname.startsWith("/v1/chat")) return chats.fetch(request, ...rest);
    if (pathname !== "/calls") return app.fetch(request, ...rest);
    const api = url ? createClient(url) : createClient("http://localhost/api", { fetch: app.fetch });
    return Response.json(await callKitchen(api));
  }
  export default { fetch };
`);

test("createClient() calls every route in workerd, from workerd, and of workerd", async () => {
  await using worker = await Worker.start(code);
  const app = await createKitchen();
  const { url } = await app.listen(0, { hostname: "127.0.0.1" });
  try {
    const within = await fetch(`${worker.url}/calls`);
    assert.deepEqual(await within.json(), KITCHEN_RESULTS);
    const from = await fetch(`${worker.url}/calls?url=${encodeURIComponent(`${url}/api`)}`);
    assert.deepEqual(await from.json(), KITCHEN_RESULTS);
    const api = createClient<Kitchen>(`${worker.url}/api`);
    assert.deepEqual(await callKitchen(api), KITCHEN_RESULTS);
  } finally {
    await app.close();
  }
});

test("connect() opens WebSockets from workerd, and of workerd", async () => {
  await using worker = await Worker.start(code);
  const app = (await FwFactory.create(ChatModule)).enableUriVersioning();
  const { url } = await app.listen(0, { hostname: "127.0.0.1" });
  try {
    const from = await fetch(`${worker.url}/talk?url=${encodeURIComponent(url)}`);
    assert.deepEqual(await from.json(), TALK);
    assert.deepEqual(await talk(createClient<Chats>(worker.url)), TALK);
  } finally {
    await app.close();
  }
});
