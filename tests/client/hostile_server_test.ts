/** A client of a server, or of a proxy before it, that is faulty or hostile. */
import assert from "node:assert/strict";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { controller, module, route } from "../../mod.ts";
import {
  type ApiOf,
  type ClientOptions,
  createClient,
  type ProblemError,
} from "../../src/client/mod.ts";
import { test } from "../support/test.ts";

class OwnersController extends controller() {
  owner = route.get("/owners/:owner-id", ({ params }) => params["owner-id"]);
  pay = route.post("/payments", () => undefined);
  all = route.get("/*", () => undefined);
  ticks = route.get("/ticks", () => undefined);
}
const OwnersModule = module({ controllers: [OwnersController] });
interface Owners extends ApiOf<typeof OwnersModule> {}

/** Returns a client whose requests this function answers. */
function answeredBy(
  fetch: NonNullable<ClientOptions["fetch"]>,
  options: Omit<ClientOptions, "fetch"> = {},
) {
  return createClient<Owners>("http://localhost", { fetch, ...options });
}

/** Serves on a free port of this machine while the function runs. */
async function serving<T>(
  listener: RequestListener,
  run: (server: Server, url: string) => Promise<T>,
): Promise<T> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await run(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }
}

for (const status of [301, 302, 303, 307, 308]) {
  test(`createClient() follows no redirect: a ${status} sends no secret to another server`, async () => {
    const stolen: unknown[] = [];
    await serving(({ headers }, response) => {
      stolen.push(headers["x-api-key"]);
      response.end();
    }, async (_, other) => {
      await serving((request, response) => {
        request.resume();
        response.writeHead(status, { location: `${other}/stolen` }).end();
      }, async (_, url) => {
        const options = { headers: { "x-api-key": "secret" }, retry: 1 };
        const client = createClient<Owners>(url, options);
        const refusal = (call: string) => ({
          name: "TypeError",
          message: `Cannot ${call}: the answer is a redirect`,
        });
        await assert.rejects(client.post("/payments"), refusal("POST /payments"));
        await assert.rejects(client.get.safe("/ticks"), refusal("GET /ticks"));
        await assert.rejects(client.get.response("/ticks"), refusal("GET /ticks"));
        const manual = createClient<Owners>(url, { ...options, redirect: "manual" });
        const response = await manual.get.response("/ticks");
        await response.body?.cancel();
        assert.equal(response.status, status);
        assert.deepEqual(stolen, []);
        await createClient<Owners>(url, { ...options, redirect: "follow" }).get("/ticks");
        assert.deepEqual(stolen, ["secret"]);
      });
    });
  });
}

test("createClient() refuses a redirect that a browser hides", async () => {
  const hidden = Object.defineProperty(Response.error(), "type", { value: "opaqueredirect" });
  await assert.rejects(answeredBy(() => hidden).get("/ticks"), {
    name: "TypeError",
    message: "Cannot GET /ticks: the answer is a redirect",
  });
});

/** Answers with these texts, one in a chunk. */
function streamOf(chunks: Iterable<string>): () => Response {
  const encoder = new TextEncoder();
  const texts = chunks[Symbol.iterator]();
  return () =>
    new Response(
      new ReadableStream({
        pull(stream) {
          const { done, value } = texts.next();
          if (done) stream.close();
          else stream.enqueue(encoder.encode(value));
        },
      }),
      { headers: { "content-type": "text/event-stream" } },
    );
}

test("events() reads a long event in linear time", async () => {
  const chunks = ["data: ", ...new Array<string>(2048).fill("x".repeat(4096)), "\n\n"];
  const lengths: number[] = [];
  const startedMs = performance.now();
  for await (const { data } of answeredBy(streamOf(chunks)).get.events("/ticks")) {
    lengths.push(data.length);
  }
  assert.deepEqual(lengths, [2048 * 4096]);
  assert.ok(performance.now() - startedMs < 5_000); // in quadratic time, 30 s
});

test("events() refuses an answer that is not an event stream, and reads none of a 204", async () => {
  const answers = [
    [new Response("<p>Log in</p>", { headers: { "content-type": "text/html" } }), "text/html"],
    [new Response(new Uint8Array()), "untyped"],
  ] as const;
  for (const [answer, type] of answers) {
    await assert.rejects(
      answeredBy(() => answer).get.events("/ticks")[Symbol.asyncIterator]().next(),
      {
        name: "TypeError",
        message: `Cannot read events: the answer is ${type}`,
      },
    );
  }
  const none = answeredBy(() => new Response(null, { status: 204 })).get.events("/ticks");
  for await (const { data } of none) assert.fail(data);
  const headers = { "content-type": "Text/Event-Stream; charset=utf-8" };
  const one = answeredBy(() => new Response("data: 1\n\n", { headers })).get.events("/ticks");
  for await (const { data } of one) assert.equal(data, "1");
});

function* endless(text: string): Generator<string> {
  for (;;) yield text;
}

for (const [what, text] of [["line", "x".repeat(65_536)], ["event", "data: x\n".repeat(8192)]]) {
  test(`events() refuses an endless ${what}`, async () => {
    const events = answeredBy(streamOf(endless(text!))).get.events("/ticks");
    await assert.rejects(async () => {
      for await (const { id } of events) assert.fail(id);
    }, {
      name: "RangeError",
      message: "Cannot read events: one has more than 16777216 characters",
    });
  });
}

for (const status of [200, 500]) {
  test(`an answer of ${status} that fills the memory when it is unpacked is refused`, async () => {
    const packed = gzipSync(new Uint8Array(64 * 1024 * 1024).fill(32)); // 64 KB
    await serving((_, response) => {
      response.writeHead(status, {
        "content-type": "application/json",
        "content-encoding": "gzip",
      }).end(packed);
    }, async (_, url) => {
      const { get } = createClient<Owners>(url);
      for (const call of [get, get.safe]) {
        await assert.rejects(call("/ticks"), {
          name: "RangeError",
          message: "Cannot GET /ticks: the answer has more than 16777216 characters",
        });
      }
    });
  });
}

test("an answer is decoded across its parts, without a byte order mark", async () => {
  const bytes = new TextEncoder().encode('\uFEFF{"word":"Łódź 🙂"}');
  const headers = { "content-type": "application/json" };
  const client = answeredBy(() => {
    const parts = Array.from(bytes, (byte) => Uint8Array.of(byte));
    const body = new ReadableStream({
      pull(stream) {
        const part = parts.shift();
        if (part) stream.enqueue(part);
        else stream.close();
      },
    });
    return new Response(body, { headers });
  });
  assert.deepEqual(await client.get("/ticks"), { word: "Łódź 🙂" });
});

for (
  const [type, data] of [
    ["Application/JSON", { id: 7 }],
    ["application/vnd.shop+JSON; charset=utf-8", { id: 7 }],
    ["application/json ;charset=utf-8", { id: 7 }],
    ["application/json-seq", '{"id":7}'],
    ["text/plain; of=a/json", '{"id":7}'],
  ] as const
) {
  test(`an answer of ${type} is ${typeof data === "string" ? "text" : "JSON"}`, async () => {
    const headers = { "content-type": type };
    const client = answeredBy(() => new Response('{"id":7}', { headers }));
    assert.deepEqual(await client.get("/ticks"), data);
  });
}

test("events() counts the name and the id of an event, too", async () => {
  const half = "x".repeat(8_400_000);
  const chunks = [`id: ${half}\n`, `data: ${half}\n`, "\n"];
  await assert.rejects(async () => {
    for await (const { data } of answeredBy(streamOf(chunks)).get.events("/ticks")) {
      assert.fail(data);
    }
  }, { name: "RangeError" });
});

test("events() reads any line ends, wherever the chunks end", async () => {
  const text = "\uFEFFdata: a\r\ndata:b\rdata\n\r\n: note\r\rid: 1\r\nevent: e\ndata: c\n\n";
  for (const size of [1, 2, 3, 5, 100]) {
    const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, i) => {
      return text.slice(i * size, (i + 1) * size);
    });
    const seen: unknown[] = [];
    for await (const { event, id, data } of answeredBy(streamOf(chunks)).get.events("/ticks")) {
      seen.push([event, id, data]);
    }
    assert.deepEqual(seen, [["message", "", "a\nb\n"], ["e", "1", "c"]], `chunks of ${size}`);
  }
});

for (const body of ['"text"', "[1]", "null", "7"]) {
  test(`a problem has only its status if the body is ${body}`, async () => {
    const headers = { "content-type": "application/problem+json" };
    const client = answeredBy(() => new Response(body, { status: 500, headers }));
    await assert.rejects(client.get("/ticks"), ({ problem }: ProblemError) => {
      assert.deepEqual(Object.keys(problem).sort(), ["instance", "status", "title", "type"]);
      return problem.status === 500;
    });
  });
}

for (
  const [detail, message] of [[{ toString: 1 }, "Cannot GET /ticks: 500 No"], [
    "Off",
    "Cannot GET /ticks: 500 Off",
  ]]
) {
  test(`a call rejects with ProblemError if the detail is ${JSON.stringify(detail)}`, async () => {
    const client = answeredBy(() => Response.json({ title: "No", detail }, { status: 500 }));
    await assert.rejects(client.get("/ticks"), { name: "ProblemError", message });
  });
}

test("createClient() fills parameters of any name, and refuses one that begins a host", async () => {
  const client = answeredBy(({ url }) => Response.json(url));
  const owner = await client.get("/owners/:owner-id", { params: { "owner-id": "a/b" } });
  assert.equal(owner, "http://localhost/owners/a%2Fb");
  assert.equal(await client.get("/*", { params: { "*": "a//b" } }), "http://localhost/a//b");
  // the base of a page can be empty: the URL would be that of another server
  await assert.rejects(client.get("/*", { params: { "*": "/example.com/a" } }), {
    name: "TypeError",
    message: 'Cannot GET /*: params.* is "/example.com/a"',
  });
});

test("an option of a call that is undefined is that of the client", async () => {
  const left = AbortSignal.abort(new Error("left"));
  const client = answeredBy(({ signal }) => {
    signal.throwIfAborted();
    return new Response();
  }, { signal: left, timeoutMs: Infinity });
  const none = { signal: undefined, timeoutMs: undefined } as object;
  await assert.rejects(client.get("/ticks", none), /left/);
});

test("timeoutMs can be Infinity", async () => {
  const later = () => new Promise<Response>((resolve) => setTimeout(resolve, 20, new Response()));
  const client = answeredBy(async ({ signal }) => {
    const response = await later();
    signal.throwIfAborted();
    return response;
  }, { timeoutMs: Infinity });
  assert.equal(await client.get("/ticks"), undefined);
});
