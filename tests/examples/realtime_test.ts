import assert from "node:assert/strict";
import { AppModule as SseModule } from "../../examples/server_sent_events.ts";
import { AppModule as StreamingModule } from "../../examples/streaming.ts";
import { AppModule as WebSocketModule } from "../../examples/web_socket.ts";
import { FwFactory, type HttpServer, type Module } from "../../mod.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test } from "../support/test.ts";

/** Serves a module on a free port during a test. */
function serving(root: Module, body: (server: HttpServer) => Promise<void>): Promise<void> {
  return captureLogs(["fw"], async () => {
    await using app = await FwFactory.create(root);
    app.useRequestId().useRequestTracing();
    await body(await app.listen(0, { hostname: "127.0.0.1" }));
  });
}

test("the streaming example sends its lines one by one", () =>
  serving(StreamingModule, async ({ url }) => {
    const response = await fetch(`${url}/countdown/3`);
    assert.equal(response.status, 200);
    const chunks: string[] = [];
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) chunks.push(decoder.decode(chunk));
    assert.equal(chunks.join(""), "3\n2\n1\nlift-off\n");
    assert.ok(chunks.length > 1, "it came in one piece");
    assert.equal((await (await fetch(`${url}/countdown/x`)).json()).status, 422);
  }));

test("the example of server-sent events ticks until the client disconnects", () =>
  serving(SseModule, async ({ url }) => {
    const response = await fetch(`${url}/ticks`);
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk);
      if (text.includes("id: 2")) break;
    }
    await new Promise((resolve) => setTimeout(resolve, 150)); // for the last sleep of the example
    assert.match(text, /^event: tick\ndata: \d{4}-.*Z\nid: 1\n\nevent: tick\n/);
  }));

test("the WebSocket example echoes, and responds 426 to requests without an upgrade", () =>
  serving(WebSocketModule, async ({ url }) => {
    const socket = new WebSocket(`${url.replace("http", "ws")}/echo`);
    const messages: string[] = [];
    await new Promise<void>((resolve, reject) => {
      socket.onerror = () => reject(new Error("the socket failed"));
      socket.onmessage = ({ data }) => {
        messages.push(data);
        if (messages.length === 1) socket.send("hello");
        else resolve();
      };
    });
    assert.deepEqual(messages, ["welcome", "echo hello"]);
    const closed = new Promise((resolve) => socket.onclose = resolve);
    socket.close();
    await closed;
    const plain = await fetch(`${url}/echo`);
    assert.equal(plain.status, 426);
    assert.equal((await plain.json()).title, "Upgrade Required");
  }));
