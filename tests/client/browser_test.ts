/** The client in a browser, on the page of the same server and on that of another one. */
import assert from "node:assert/strict";
import { getCookie, setCookie } from "hono/cookie";
import { cors } from "hono/cors";
import type { Page } from "playwright-core";
import { controller, FwFactory, module, route } from "../../mod.ts";
import { bundle } from "../edge/bundle.ts";
import { complaintsOf, SKIP_BROWSER, startBrowser } from "../support/browser.ts";
import { testOn } from "../support/test.ts";
import { ChatModule, TALK } from "./chat.ts";
import { KitchenModule } from "./kitchen.ts";
import { KITCHEN_RESULTS } from "./kitchen_calls.ts";

const browserTest = testOn(["deno"], "a browser is the same whoever serves its page");

const { code } = await bundle(`
  import { createClient } from "./src/client/mod.ts";
  import { talk } from "./tests/client/chat.ts";
  import { callKitchen } from "./tests/client/kitchen_calls.ts";
  Object.assign(globalThis, { createClient, callKitchen, talk });
`);

class PageController extends controller() {
  page = route.get("/page", (_, c) => c.html('<!doctype html><script src="client.js"></script>'));
  script = route.get(
    "/client.js",
    (_, c) => c.body(code, 200, { "content-type": "text/javascript" }),
  );
  logIn = route.post("/login", (_, c) => setCookie(c, "caller", "Ann", { httpOnly: true }));
  caller = route.get("/caller", (_, c) => c.text(getCookie(c, "caller") ?? "nobody"));
}
const PageModule = module({ imports: [ChatModule, KitchenModule], controllers: [PageController] });

async function serve(origins: readonly string[]) {
  const app = (await FwFactory.create(PageModule)).setGlobalPrefix("api").enableUriVersioning();
  app.use(cors({ origin: [...origins], credentials: true, exposeHeaders: ["x-count"] }));
  const { url } = await app.listen(0, { hostname: "127.0.0.1" });
  return { url: url.replace(/\/$/, ""), [Symbol.asyncDispose]: () => app.close() };
}

/** Opens the page of a server, which must not complain. */
async function visit(url: string, body: (page: Page) => Promise<void>): Promise<void> {
  await using browser = await startBrowser();
  const page = await browser.newPage();
  const complaints = await complaintsOf(page);
  await page.goto(`${url}/api/page`);
  await body(page);
  // the browser logs each answer from 400
  assert.deepEqual(complaints.filter((it) => !it.startsWith("Failed to load resource")), []);
}

browserTest(
  "createClient() calls every route from a page of the server, and of another one",
  async () => {
    await using server = await serve([]);
    await using other = await serve([server.url]);
    await visit(server.url, async (page) => {
      assert.deepEqual(await page.evaluate(`callKitchen(createClient("/api"))`), KITCHEN_RESULTS);
      const calls = `callKitchen(createClient("${other.url}/api"))`;
      assert.deepEqual(await page.evaluate(calls), KITCHEN_RESULTS);
    });
  },
  { skip: SKIP_BROWSER },
);

browserTest("connect() opens a WebSocket from a page, by a path", async () => {
  await using server = await serve([]);
  await visit(server.url, async (page) => {
    assert.deepEqual(await page.evaluate(`talk(createClient("/api"))`), TALK);
  });
}, { skip: SKIP_BROWSER, slow: true });

browserTest("credentials of createClient() sends cookies to another origin", async () => {
  await using server = await serve([]);
  await using other = await serve([server.url]);
  await visit(server.url, async (page) => {
    const callers = await page.evaluate(`(async () => {
      const api = createClient("${other.url}/api");
      const known = createClient("${other.url}/api", { credentials: "include" });
      const callers = [];
      await api.post("/login");
      callers.push(await known.get("/caller"));
      await known.post("/login");
      callers.push(await api.get("/caller"), await known.get("/caller"));
      return callers;
    })()`);
    assert.deepEqual(callers, ["nobody", "nobody", "Ann"]);
  });
}, { skip: SKIP_BROWSER, slow: true });
