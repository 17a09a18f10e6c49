/** The limit of statements on edge runtimes; `tests/edge/concurrent_test.ts` has it in workerd. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { EdgeGate } from "../../../src/db/transaction/edge_gate.ts";
import { dbError } from "../support/database.ts";
import { test } from "../../support/test.ts";

const TIMED_OUT = dbError(
  "PoolTimeout",
  "Cannot take a connection: the database was busy for too long",
);
const CLOSED = dbError("PoolClosed", "Cannot take a connection: the database is closed");

test("EdgeGate admits at most `max` users, and those that wait when others leave", async () => {
  const gate = new EdgeGate({ max: 2, timeoutMs: 60_000, staysMs: Infinity });
  assert.deepEqual([gate.enter(), gate.enter()], [undefined, undefined]);
  let admitted = 0;
  const waiting = [1, 2, 3].map(async () => {
    assert.ok(await gate.enter()! >= 0);
    admitted += 1;
  });
  await delay(50);
  assert.deepEqual([admitted, gate.inside, gate.waiting, gate.isFull], [0, 2, 3, true]);
  gate.leave();
  await Promise.race(waiting);
  await delay(50);
  assert.deepEqual([admitted, gate.waiting], [1, 2]);
  gate.leave();
  gate.leave();
  await Promise.all(waiting);
  assert.deepEqual([admitted, gate.inside, gate.waiting], [3, 2, 0]);
});

test("EdgeGate turns away users that wait too long, or whose signal aborts or client leaves", async () => {
  let hasLeft = false;
  const gate = new EdgeGate({
    max: 1,
    timeoutMs: 100,
    staysMs: Infinity,
    goneReason: () => () => hasLeft ? "left" : undefined,
  });
  gate.enter();
  const startMs = performance.now();
  await assert.rejects(gate.enter()!, TIMED_OUT);
  assert.ok(performance.now() - startMs >= 95);
  const leaving = new AbortController();
  const aborted = gate.enter(leaving.signal)!;
  leaving.abort("aborted");
  await assert.rejects(aborted, { cause: "aborted" });
  assert.throws(() => gate.enter(leaving.signal), { cause: "aborted" });
  hasLeft = true;
  await assert.rejects(gate.enter()!, { cause: "left" });
  assert.deepEqual([gate.inside, gate.waiting], [1, 0]);
});

test("EdgeGate does not count users whose requests have ended without leaving", async () => {
  const gate = new EdgeGate({ max: 1, timeoutMs: 60_000, staysMs: 100 });
  gate.enter();
  await gate.enter()!;
  assert.equal(gate.inside, 1);
  gate.leave();
  gate.leave(); // the first, all the same
  assert.deepEqual([gate.inside, gate.enter()], [0, undefined]);
});

test("EdgeGate.close() admits nobody, and waits until all have left", async () => {
  const gate = new EdgeGate({ max: 1, timeoutMs: 60_000, staysMs: Infinity });
  gate.enter();
  const waiting = assert.rejects(gate.enter()!, CLOSED);
  let isClosed = false;
  const closed = gate.close().then(() => isClosed = true);
  await waiting;
  assert.throws(() => gate.enter(), CLOSED);
  assert.deepEqual([gate.isClosed, isClosed], [true, false]);
  gate.leave();
  await closed;
});
