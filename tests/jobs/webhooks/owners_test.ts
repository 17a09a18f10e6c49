/** Endpoints of webhooks and their owners. */
import assert from "node:assert/strict";
import type { WebhookOwner, Webhooks } from "../../../src/jobs/mod.ts";
import { testOnEach } from "../../db/support/database.ts";
import { test } from "../../support/test.ts";
import { receiving, webhooksApp } from "../support/webhooks_app.ts";

const MEMORY = "sqlite::memory:";
const NOT_FOUND = { status: 404, message: "Cannot rotate secret: there is no endpoint of the id" };

testOnEach("an endpoint is found by its id and its owner alone", async ({ url }) => {
  await using server = await receiving();
  await using app = await webhooksApp(url);
  const { webhooks, jobs } = app;
  const { id } = await webhooks.add({ url: server.url, owner: "ada" });
  await webhooks.send("a", { data: 1, owner: "ada" });
  await jobs.drain();
  for (const others of [{ owner: "bob" }, { owner: null }, {}]) {
    assert.equal(await webhooks.disable(id, others), false);
    assert.equal(await webhooks.enable(id, others), false);
    assert.equal(await webhooks.remove(id, others), false);
    assert.deepEqual(await webhooks.attempts(id, others), []);
    await assert.rejects(webhooks.rotateSecret(id, others), NOT_FOUND);
  }
  const owner = { owner: "ada" };
  const [endpoint] = await webhooks.list(owner);
  assert.equal(endpoint?.isEnabled, true);
  assert.equal((await webhooks.attempts(id, owner)).length, 1);
  assert.match(await webhooks.rotateSecret(id, owner), /^whsec_/);
  assert.equal(await webhooks.disable(id, owner), true);
  assert.equal(await webhooks.remove(id, owner), true);
  await assert.rejects(webhooks.rotateSecret(id, owner), NOT_FOUND);
});

testOnEach("an owner has maxEndpoints at most, also if many are added at once", async ({ url }) => {
  await using app = await webhooksApp(url, { maxEndpoints: 3 });
  const { webhooks } = app;
  const add = (owner: string) => webhooks.add({ url: "https://hooks.invalid/", owner });
  for (const _ of [1, 2]) await add("ada");
  const added = await Promise.allSettled(Array.from({ length: 10 }, () => add("ada")));
  const refused = added.filter((it) => it.status === "rejected").map(({ reason }) => reason);
  assert.ok(refused.length >= 9, `${refused.length} were refused`);
  for (const { status, message } of refused) {
    assert.deepEqual(
      [status, message],
      [422, "Cannot add endpoint: its owner has 3 endpoints already"],
    );
  }
  assert.equal((await webhooks.list({ owner: "ada" })).length, 12 - refused.length);
  await add("bob");
});

test("an owner that is undefined is refused: it is no endpoint without one", async () => {
  await using app = await webhooksApp(MEMORY);
  const { webhooks } = app;
  const nobody = { owner: undefined } as unknown as WebhookOwner;
  const calls: Readonly<Record<string, (webhooks: Webhooks) => Promise<unknown>>> = {
    "add endpoint": (it) => it.add({ url: "https://hooks.invalid/", ...nobody }),
    "list endpoints": (it) => it.list(nobody),
    "enable endpoint": (it) => it.enable("a", nobody),
    "disable endpoint": (it) => it.disable("a", nobody),
    "remove endpoint": (it) => it.remove("a", nobody),
    "rotate secret": (it) => it.rotateSecret("a", nobody),
    "list attempts": (it) => it.attempts("a", nobody),
    'send webhook "a"': (it) => it.send("a", { data: 1, ...nobody }),
  };
  for (const [action, call] of Object.entries(calls)) {
    await assert.rejects(
      call(webhooks),
      new TypeError(`Cannot ${action}: owner is undefined, and null is for endpoints without one`),
    );
  }
});
