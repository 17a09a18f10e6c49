import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { Gate } from "../../../src/db/transaction/gate.ts";
import { test } from "../../support/test.ts";
import { dbError } from "../support/database.ts";

const TIMED_OUT = dbError(
  "PoolTimeout",
  "Cannot take a connection: the database was busy for too long",
);
const CLOSED = dbError("PoolClosed", "Cannot take a connection: the database is closed");

test("Gate.enter() lets in as many as there is room for at once, and the rest in their order", async () => {
  const gate = new Gate({ max: 2, timeoutMs: 1000 });
  assert.deepEqual([gate.enter(), gate.enter()], [undefined, undefined]);
  const order: number[] = [];
  const waiting = [1, 2, 3].map((number) => gate.enter()?.then(() => order.push(number)));
  await delay(5);
  assert.deepEqual(order, []);
  gate.leave();
  await waiting[0];
  assert.deepEqual(order, [1]);
  gate.leave();
  gate.leave();
  await Promise.all(waiting);
  assert.deepEqual(order, [1, 2, 3]);
  gate.leave();
  assert.notEqual(gate.enter(), gate.enter(), "one of the two has to wait");
  gate.leave();
});

test("Gate.leave() admits the first in the queue, not a new user", async () => {
  const gate = new Gate({ max: 1, timeoutMs: 1000 });
  gate.enter();
  const first = gate.enter();
  gate.leave();
  const second = gate.enter();
  assert.ok(second);
  await first;
  gate.leave();
  await second;
});

test("Gate.enter() fails after its time limit, for that user only", async () => {
  const gate = new Gate({ max: 1, timeoutMs: 600 });
  gate.enter();
  const early = gate.enter()!;
  const startMs = performance.now();
  const failed = assert.rejects(early, TIMED_OUT);
  await delay(300); // a busy machine must not hold up the first by as much
  const late = gate.enter()!;
  await failed;
  const waitedMs = performance.now() - startMs;
  assert.ok(waitedMs >= 595 && waitedMs < 6000, String(waitedMs));
  gate.leave();
  await late;
  gate.leave();
  for (let i = 0; i < 3; i++) {
    assert.equal(gate.enter(), undefined, "whoever was turned away holds no place");
    gate.leave();
  }
});

test("Gate.close() turns away who waits and comes, and waits for who is inside", async () => {
  const gate = new Gate({ max: 2, timeoutMs: 1000 });
  gate.enter();
  gate.enter();
  const turnedAway = assert.rejects(gate.enter()!, CLOSED);
  let isClosed = false;
  const closing = [gate.close(), gate.close()].map((it) => it.then(() => isClosed = true));
  await turnedAway;
  assert.equal(gate.isClosed, true);
  assert.throws(() => gate.enter(), CLOSED);
  gate.leave();
  await delay(5);
  assert.equal(isClosed, false);
  gate.leave();
  await Promise.all(closing);
  await gate.close();
});

test("Gate.close() of an empty gate is done at once, and entering fails even so", async () => {
  const gate = new Gate({ max: 1, timeoutMs: 1 });
  assert.equal(gate.isClosed, false);
  await gate.close();
  assert.throws(() => gate.enter(), CLOSED);
});

test("Gate keeps its number inside through a crowd with time-outs", async () => {
  const gate = new Gate({ max: 3, timeoutMs: 20 });
  let inside = 0;
  let most = 0;
  const outcomes = await Promise.allSettled(Array.from({ length: 60 }, async () => {
    await gate.enter();
    most = Math.max(most, ++inside);
    await delay(5);
    inside -= 1;
    gate.leave();
  }));
  const entered = outcomes.filter(({ status }) => status === "fulfilled").length;
  assert.equal(most, 3);
  assert.ok(entered >= 3 && entered < 60, String(entered));
  assert.deepEqual([gate.enter(), gate.enter(), gate.enter()], [undefined, undefined, undefined]);
});

test("Gate turns away a user whose client has left while it waits", async () => {
  let reason: unknown;
  const gate = new Gate({ max: 1, timeoutMs: 60_000, goneReason: () => () => reason });
  gate.enter();
  const abandoned = [1, 2].map(() =>
    assert.rejects(async () => await gate.enter(), { name: "Error", cause: "it left" })
  );
  reason = "it left";
  await Promise.all(abandoned);
  reason = undefined;
  const next = gate.enter();
  gate.leave();
  await next;
  assert.equal(gate.isFull, true);
  gate.leave();
  assert.equal(gate.isFull, false);
});
