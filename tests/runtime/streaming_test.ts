import assert from "node:assert/strict";
import { serve } from "../../src/runtime/listen.ts";
import { test } from "../support/test.ts";
import { LOCALHOST } from "./certificate_fixture.ts";
import { RawClient } from "./raw_client.ts";

const LOCAL = { port: 0, hostname: "127.0.0.1" };
const CHUNKED = ["POST / HTTP/1.1", "Host: localhost", "Transfer-Encoding: chunked"];
const encoder = new TextEncoder();

for (
  const [scheme, options] of [["HTTP", LOCAL], ["HTTPS", { ...LOCAL, tls: LOCALHOST }]] as const
) {
  test(`serve() sends each chunk of a response when it is written, over ${scheme}`, async () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    await using server = await serve(() => new Response(readable), options);
    using client = await RawClient.connect(server);
    client.send(["GET / HTTP/1.1", "Host: localhost"]);
    const writer = writable.getWriter();
    for (const word of ["one", "two", "three"]) {
      await writer.write(encoder.encode(word));
      await client.until(new RegExp(word));
    }
    await writer.close();
    await client.until(/0\r\n\r\n$/);
  });

  test(`serve() passes on each chunk of a request when it arrives, over ${scheme}`, async () => {
    const words = new TransformStream<string, string>();
    const seen = words.readable.getReader();
    await using server = await serve(async ({ body }) => {
      await body!.pipeThrough(new TextDecoderStream()).pipeTo(words.writable);
      return new Response("all read");
    }, options);
    using client = await RawClient.connect(server);
    client.send(CHUNKED);
    for (const word of ["one", "two", "three"]) {
      client.socket.write(chunk(word));
      assert.equal((await seen.read()).value, word);
    }
    client.socket.write(chunk(""));
    assert.equal((await seen.read()).done, true);
    await client.until(/all read/);
  });

  test(`serve() sends a response while its request is still arriving, over ${scheme}`, async () => {
    await using server = await serve(({ body }) => new Response(body), options);
    using client = await RawClient.connect(server);
    client.send(CHUNKED);
    for (const word of ["one", "two", "three"]) {
      client.socket.write(chunk(word));
      await client.until(new RegExp(word));
    }
    client.socket.write(chunk(""));
    await client.until(/0\r\n\r\n$/);
  });
}

function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}
