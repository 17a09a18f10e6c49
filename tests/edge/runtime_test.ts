/** The behaviour of an application in workerd: the same as on servers, or an error. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { test } from "../support/test.ts";
import { bundle } from "./bundle.ts";
import { Worker } from "./worker.ts";

/** An application created at import, where a Worker cannot use I/O, timers or random numbers. */
const { code } = await bundle(`
import { controller, FwFactory, module, route, upgradeWebSocket } from "./mod.ts";

class RuntimeController extends controller() {
  echo = route.get("/echo", (_, c) => upgradeWebSocket(c, {
    onMessage: (event, socket) => socket.send("echo " + event.data),
  }));
  counted = route.get("/counted", (_, c) => c.body(new ReadableStream({
    async start(controller) {
      for (const word of ["one", "two", "three"]) {
        controller.enqueue(new TextEncoder().encode(word));
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      controller.close();
    },
  })));
  broken = route.get("/broken", () => { throw new Error("as this test expects", { cause: new RangeError("its cause") });
  });
  metrics = route.get("/metrics", async () => {
    const app = await FwFactory.create(module({}));
    await app.enableMetrics().ready();
  });
  listen = route.get("/listen", async () => {
    const app = await FwFactory.create(module({}));
    await app.listen(3000);
  });
}

const app = await FwFactory.create(module({ controllers: [RuntimeController] }));
let probes = 0;
app.enableHealthCheck("/health", {
  timeoutMs: 50,
  indicators: {
    slow: () => new Promise((resolve) => setTimeout(resolve, probes++ === 0 ? 300 : 0)),
  },
});
app.useRequestId().useRequestTracing().useRateLimit({ key: () => "all" }).enableOpenApi();
export default { fetch: app.fetch };
`);

test("an application created at import handles concurrent first requests in workerd", async () => {
  await using worker = await Worker.start(code);
  const requests = Array.from({ length: 10 }, () => fetch(`${worker.url}/openapi.json`));
  for (const response of await Promise.all(requests)) {
    assert.ok(response.headers.has("x-request-id"));
    assert.ok("/echo" in (await response.json()).paths);
  }
});

test("a response is streamed from workerd while it is written", async () => {
  await using worker = await Worker.start(code);
  const headers = { "accept-encoding": "identity" }; // otherwise miniflare compresses, and waits for more data
  const { body } = await fetch(`${worker.url}/counted`, { headers });
  assert.ok(body);
  const times: number[] = [];
  let text = "";
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    times.push(performance.now());
    text += chunk;
  }
  assert.equal(text, "onetwothree");
  assert.ok(times.at(-1)! - times[0]! > 200, times.join());
});

test("upgradeWebSocket() opens a socket in workerd", async () => {
  await using worker = await Worker.start(code);
  const socket = new WebSocket(`${worker.url.replace("http", "ws")}/echo`);
  await new Promise((resolve) => socket.onopen = resolve);
  const received = new Promise<MessageEvent>((resolve) => socket.onmessage = resolve);
  socket.send("hello");
  assert.equal((await received).data, "echo hello");
  const closed = new Promise((resolve) => socket.onclose = resolve);
  socket.close(1000);
  await closed;
});

test("an error of a handler in workerd becomes a problem, and is logged with the request", async () => {
  await using worker = await Worker.start(code);
  const response = await fetch(`${worker.url}/broken`);
  const { status, detail, requestId } = await response.json();
  assert.deepEqual([status, detail], [500, "The server could not answer this request"]);
  assert.equal(requestId, response.headers.get("x-request-id"));
  await worker.logged(/GET \/broken 500 in [\d.]+ ms/);
  await worker.logged(/Error: as this test expects\s+at [^]*Caused by: RangeError: its cause/);
});

test("an application without a database needs no compatibility flag of workerd", async () => {
  await using worker = await Worker.start(code, { flags: [] });
  const document = await (await fetch(`${worker.url}/openapi.json`)).json();
  assert.ok("/echo" in document.paths);
});

test("an application in workerd reports what a bundle for the edge leaves out", async () => {
  await using worker = await Worker.start(code);
  for (
    const [path, reason] of [
      [
        "/metrics",
        /Cannot load a server, a driver or metrics: bundles for the edge leave them out/,
      ],
      ["/listen", /Cannot listen on this runtime: it calls the exported `fetch` instead/],
    ] as const
  ) {
    assert.equal((await (await fetch(worker.url + path)).json()).status, 500);
    await worker.logged(reason);
  }
});

test("a health indicator that exceeded its time limit runs again in workerd", async () => {
  await using worker = await Worker.start(code);
  const status = async () => {
    const response = await fetch(`${worker.url}/health`);
    await response.body?.cancel();
    return response.status;
  };
  assert.equal(await status(), 503);
  await delay(600); // the indicator has ended after its request
  assert.equal(await status(), 200);
});

test("a Worker can import every layer: none uses I/O, a timer or a random number at import", async () => {
  const layers = ["authn", "db", "jobs", "oauth2", "oauth2/social", "openapi"];
  const paths = ["./mod.ts", ...layers.map((layer) => `./src/${layer}/mod.ts`)];
  const imports = paths.map((path, i) => `import * as layer${i} from "${path}";`);
  const all = paths.map((_, i) => `Object.keys(layer${i}).length`);
  const { code } = await bundle(`
    ${imports.join("\n")}
    export default { fetch: () => Response.json([${all}]) };
  `);
  await using worker = await Worker.start(code);
  const counts: readonly number[] = await (await fetch(worker.url)).json();
  assert.equal(counts.length, paths.length);
  assert.ok(Math.min(...counts) > 0, String(counts));
});
