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

/** The actions of an owner. */
const ACTIONS: Readonly<
  Record<string, (webhooks: Webhooks, id: string, owner: WebhookOwner) => Promise<unknown>>
> = {
  "add endpoint": (it, _, owner) => it.add({ url: "https://hooks.invalid/", ...owner }),
  "list endpoints": (it, _, owner) => it.list(owner),
  "enable endpoint": (it, id, owner) => it.enable(id, owner),
  "disable endpoint": (it, id, owner) => it.disable(id, owner),
  "remove endpoint": (it, id, owner) => it.remove(id, owner),
  "rotate secret": (it, id, owner) => it.rotateSecret(id, owner),
  "list attempts": (it, id, owner) => it.attempts(id, owner),
  'send webhook "a"': (it, _, owner) => it.send("a", { data: 1, ...owner }),
};

test("an owner that is undefined is refused: it is no endpoint without one", async () => {
  await using app = await webhooksApp(MEMORY);
  for (const [action, call] of Object.entries(ACTIONS)) {
    await assert.rejects(
      call(app.webhooks, "a", { owner: undefined } as unknown as WebhookOwner),
      new TypeError(`Cannot ${action}: owner is undefined, and null is for endpoints without one`),
    );
  }
});

test("an owner or an id that is a condition is refused: endpoints of others meet it", async () => {
  await using app = await webhooksApp(MEMORY);
  const { webhooks, jobs } = app;
  const { id } = await webhooks.add({ url: "https://hooks.invalid/", owner: "ada" });
  const before = await webhooks.list({ owner: "ada" });
  for (
    const owner of [{ not: "bob" }, { in: ["ada", "bob"] }, { contains: "" }, ["ada"], 1, true]
  ) {
    for (const [action, call] of Object.entries(ACTIONS)) {
      await assert.rejects(
        call(webhooks, id, { owner } as unknown as WebhookOwner),
        new TypeError(`Cannot ${action}: owner is not a text`),
      );
    }
  }
  const other = { not: crypto.randomUUID() } as unknown as string;
  for (
    const action of ["enable endpoint", "disable endpoint", "remove endpoint", "list attempts"]
  ) {
    await assert.rejects(
      ACTIONS[action]!(webhooks, other, { owner: "ada" }),
      new TypeError(`Cannot ${action}: the id is not a text`),
    );
  }
  assert.deepEqual(await webhooks.list({ owner: "ada" }), before);
  assert.deepEqual(await jobs.list(), []);
});

test("an id that is no UUID is that of no endpoint", async () => {
  await using app = await webhooksApp(MEMORY);
  const { webhooks } = app;
  for (const id of ["+5", "", "a".repeat(1000), "\0", crypto.randomUUID()]) {
    for (const action of ["enable endpoint", "disable endpoint", "remove endpoint"]) {
      assert.equal(await ACTIONS[action]!(webhooks, id, {}), false, `${action} ${id}`);
    }
    assert.deepEqual(await webhooks.attempts(id), []);
    await assert.rejects(webhooks.rotateSecret(id), {
      name: "NotFoundException",
      message: "Cannot rotate secret: there is no endpoint of the id",
    });
  }
});
