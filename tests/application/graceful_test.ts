import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { FwFactory, module } from "../../mod.ts";
import { Subprocess } from "../support/subprocess.ts";
import { test } from "../support/test.ts";

test("a signal turns the health check to 503 while the application still serves", async () => {
  await using process = new Subprocess(FIXTURE);
  const url = await process.until(/http:\S+/);
  assert.equal(await health(url), 200);
  process.kill("SIGTERM");
  await drains(url);
});

const ERRORS = [
  {
    path: "/reject",
    origin: "unhandledRejection",
    error: /Error: nothing catches this rejection\n\s+at .*rejectLater.*graceful_fixture\.ts:\d+/,
  },
  { path: "/value", origin: "unhandledRejection", error: /a plain string/ },
  {
    path: "/throw",
    origin: "uncaughtException",
    error: /Error: nothing catches this exception\n\s+at .*graceful_fixture\.ts:\d+/,
  },
];

test("listenGraceful() finishes requests after an error that nothing catches, then exits with 1", async () => {
  await Promise.all(ERRORS.map(async ({ path, origin, error }) => {
    await using process = new Subprocess(FIXTURE, { args: [5_000] });
    const url = await process.until(/http:\S+/);
    const slow = textOf(`${url}/slow`);
    await process.until(/asked for/);
    assert.equal(await textOf(url + path), '"answered"');
    await drains(url);
    await textOf(url + path); // a second one is logged, and changes nothing
    assert.equal(await textOf(`${url}/release`), '"released"');
    assert.equal(await slow, '"slow"');

    const { code, output } = await process.ended;
    assert.equal(code, 1, output);
    assert.match(output, error);
    assert.equal(output.split(`Stopping after ${origin}: `).length, 3, output);
    assert.match(output, /\nstopped on undefined\n$/);
  }));
});

test("listenGraceful() leaves rejections to a listener of the application", async () => {
  await using process = new Subprocess(FIXTURE, { args: [500, "own"] });
  const url = await process.until(/http:\S+/);
  assert.equal(await textOf(`${url}/reject`), '"answered"');
  await process.until(/own: Error: nothing catches this rejection/);
  assert.equal(await health(url), 200);
  process.kill("SIGTERM");
  const { code, output } = await process.ended;
  assert.equal(code, 0, output);
  assert.doesNotMatch(output, /Stopping after/);
});

for (const [how, failure] of [["retry", "AddressInUse"], ["together", "RangeError"]] as const) {
  test(`listenGraceful() stops gracefully though a call has failed (${how})`, async () => {
    await using process = new Subprocess(START_FIXTURE, { args: [how] });
    await process.until(new RegExp(`^${failure}$[^]*^it listens$`, "m"));
    const slow = textOf(`${await process.until(/http:[^\s"]+/)}/slow`);
    await process.until(/asked for/);
    process.kill("SIGTERM");
    assert.equal(await slow, '"slow"');
    const { code, output } = await process.ended;
    assert.equal(code, 0, output);
    assert.match(output, /\nstopped on SIGTERM\npool closed\n$/);
  });
}

test("listenGraceful() stops without an error on a signal while the application starts", async () => {
  await using process = new Subprocess(START_FIXTURE, { args: ["slow"] });
  await process.until(/start begins/);
  process.kill("SIGTERM");
  assert.deepEqual(await process.ended, {
    code: 0,
    output: "start begins\nstart ends\nstopped on SIGTERM\npool closed\n",
  });
});

test("listenGraceful() logs a start that fails after a signal, and runs the stop hooks", async () => {
  await using process = new Subprocess(START_FIXTURE, { args: ["failing"] });
  await process.until(/start begins/);
  process.kill("SIGTERM");
  const { code, output } = await process.ended;
  assert.equal(code, 0, output);
  assert.equal(output.split("no start").length, 2, output);
  assert.match(output, /Listening failed: Error: no start/);
  assert.match(output, /\nstopped on SIGTERM\n[^]*pool closed\n$/);
});

test("listenGraceful() refuses times by which it could not stop", async () => {
  for (const name of ["drainMs", "lameDuckMs"]) {
    for (const value of [-1, NaN, "500", null]) {
      await using app = await FwFactory.create(module({}));
      await assert.rejects(app.listenGraceful(0, { [name]: value }), {
        name: "RangeError",
        message: `Cannot stop gracefully: ${name} ${value} is not 0 or more milliseconds`,
      });
    }
  }
});

const START_FIXTURE = "tests/application/graceful_start_fixture.ts";
const FIXTURE = "tests/application/graceful_fixture.ts";

async function health(url: string): Promise<number> {
  const response = await fetch(`${url}/health`);
  await response.body?.cancel();
  return response.status;
}

/** Waits until health is not 200, or connecting fails without a 503. */
async function drains(url: string): Promise<void> {
  while (await health(url) === 200) await delay(20);
  assert.equal(await health(url), 503);
}

async function textOf(url: string): Promise<string> {
  return await (await fetch(url)).text();
}
