import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { DenoUpgrades } from "../../src/runtime/deno_upgrades.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { Subprocess } from "../support/subprocess.ts";
import { test, testOn } from "../support/test.ts";
import { RawClient, UPGRADE } from "./raw_client.ts";
import { RUNTIME } from "./runtime_name.ts";

const FIXTURE = "tests/runtime/websocket_resets_fixture.ts";
const skip = existsSync("/proc/self/fd") ? undefined : "descriptors are counted on Linux";
/** Deno keeps the first, and those whose reset it has not noticed after some 100 ms. */
const KEPT = RUNTIME === "deno" ? 256 : 0;
const SLACK = 20;

test(
  "WebSockets that are reset at once leave at most 256 descriptors, and none but on Deno",
  async () => {
    await using process = new Subprocess(FIXTURE);
    const url = await process.until(/http:\S+/);
    const before = await descriptors(url);
    await reset(url, 600);
    await settlesBelow(url, before + KEPT + SLACK);
  },
  { skip, slow: true },
);

test("a server opens WebSockets after others were reset at once", async () => {
  await using process = new Subprocess(FIXTURE);
  const url = await process.until(/http:\S+/);
  const before = await descriptors(url);
  await reset(url, 100);
  await settlesBelow(url, before + KEPT + SLACK);
  for (const client of await Promise.all(Array.from({ length: 50 }, () => open(url)))) {
    client.socket.destroy();
  }
}, { skip });

testOn(["deno"], "only Deno keeps them")(
  "Deno.serve keeps the descriptors of WebSockets that are reset at once, without the framework",
  async () => {
    await using process = new Subprocess(FIXTURE, { args: ["bare"] });
    const url = await process.until(/http:\S+/);
    const before = await descriptors(url);
    await reset(url, 50);
    await delay(1_000);
    // when this fails, Deno closes them: `deno_upgrades.ts` can be removed
    assert.ok(await descriptors(url) > before + 25);
  },
  { skip },
);

testOn(["deno"], "its subject is Deno's")(
  "DenoUpgrades.begin() refuses more than 256 upgrades that are not open, until one ends",
  () =>
    captureLogs(["fw"], async (records) => {
      const upgrades = new DenoUpgrades();
      const request = new Request("http://localhost");
      const begun = await Promise.all(Array.from({ length: 300 }, () => upgrades.begin(request)));
      const accepted = begun.filter((settled) => settled !== undefined);
      assert.equal(accepted.length, 256);
      accepted[0]!();
      accepted[0]!();
      assert.notEqual(await upgrades.begin(request), undefined);
      assert.equal(await upgrades.begin(request), undefined);
      assert.deepEqual(records.map(({ level }) => level), ["error"]);
    }),
);

testOn(["deno"], "its subject is Deno's")(
  "DenoUpgrades.begin() refuses a client that has left, once 16 are not open",
  async () => {
    const upgrades = new DenoUpgrades();
    const gone = new Request("http://localhost", { signal: AbortSignal.abort() });
    for (let i = 0; i < 16; i++) assert.notEqual(await upgrades.begin(gone), undefined);
    assert.equal(await upgrades.begin(gone), undefined);
  },
);

async function reset(url: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const { socket } = await connect(url);
    await new Promise((resolve) => socket.write(`${UPGRADE.join("\r\n")}\r\n\r\n`, resolve));
    socket.resetAndDestroy();
  }
}

async function open(url: string): Promise<RawClient> {
  const client = await connect(url);
  client.send(UPGRADE);
  await client.until(/^HTTP\/1\.1 101 [^]*open$/);
  return client;
}

function connect(url: string): Promise<RawClient> {
  return RawClient.connect({ url, port: Number(new URL(url).port) });
}

async function descriptors(url: string): Promise<number> {
  const response = await fetch(url, { headers: { connection: "close" } });
  return (await response.json()).descriptors;
}

/** Waits until the server has fewer descriptors. */
async function settlesBelow(url: string, most: number): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (await descriptors(url) >= most) {
    if (performance.now() > deadline) throw new Error(`${await descriptors(url)} of ${most}`);
    await delay(50);
  }
}
