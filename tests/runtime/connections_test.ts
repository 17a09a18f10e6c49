import assert from "node:assert/strict";
import { serve } from "../../src/runtime/listen.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { Subprocess } from "../support/subprocess.ts";
import { test } from "../support/test.ts";
import { RawClient } from "./raw_client.ts";
import { RUNTIME } from "./runtime_name.ts";

const LOCAL = { port: 0, hostname: "127.0.0.1" };

test("maxConnections closes further connections on Node, and is reported elsewhere", () =>
  captureLogs(["fw"], async (records) => {
    await using server = await serve(() => new Response("ok"), { ...LOCAL, maxConnections: 2 });
    const clients: RawClient[] = [];
    try {
      for (let n = 0; n < 2; n++) {
        const client = await RawClient.connect(server);
        clients.push(client);
        client.send(["GET / HTTP/1.1", "Host: x"]);
        await client.until(/^HTTP\/1\.1 200 /);
      }
      const third = await RawClient.connect(server);
      clients.push(third);
      third.send(["GET / HTTP/1.1", "Host: x"]);
      if (RUNTIME === "node") assert.equal(await third.end(), "");
      else await third.until(/^HTTP\/1\.1 200 /);
    } finally {
      for (const client of clients) client[Symbol.dispose]();
    }
    const warnings = records.filter(({ level }) => level === "warning");
    assert.deepEqual(
      warnings.map(({ properties }) => properties.runtime),
      RUNTIME === "node" ? [] : [RUNTIME],
    );
  }));

test("serve() refuses a maxConnections that is not a positive integer", async () => {
  for (const maxConnections of [0, -1, 1.5, NaN]) {
    await assert.rejects(
      serve(() => new Response("ok"), { ...LOCAL, maxConnections }),
      RangeError(`Cannot listen: maxConnections ${maxConnections} is not a positive integer`),
    );
  }
});

test("serve() lets 700 connections wait while its process does nothing", async () => {
  await using process = new Subprocess("tests/runtime/server_fixture.ts");
  const url = await process.until(/http:\S+/);
  const target = { url, port: Number(new URL(url).port) };
  process.kill("SIGSTOP");
  const clients = await Promise.all(Array.from({ length: 700 }, () => RawClient.connect(target)));
  process.kill("SIGCONT");
  try {
    for (const client of clients) client.send(["GET / HTTP/1.1", "Host: x"]);
    for (const client of clients) await client.until(/^HTTP\/1\.1 200 /);
  } finally {
    for (const client of clients) client[Symbol.dispose]();
  }
});
