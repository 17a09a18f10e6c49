/** The limit of statements on edge runtimes; `tests/edge/concurrent_test.ts` has it in workerd. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { EdgeGate, type EdgeGateOptions } from "../../../src/db/transaction/edge_gate.ts";
import { dbError } from "../support/database.ts";
import { test } from "../../support/test.ts";

const TIMED_OUT = dbError(
  "PoolTimeout",
  "Cannot take a connection: the database was busy for too long",
);
const CLOSED = dbError("PoolClosed", "Cannot take a connection: the database is closed");

/** Statements and transactions that take so long at most. */
function limited(ms: number) {
  return { statementTimeoutMs: ms, transactionTimeoutMs: ms };
}

/** A gate whose users leave in the order of their entry. */
function inOrder(options: EdgeGateOptions) {
  const gate = new EdgeGate(options);
  const users: object[] = [];
  return Object.assign(gate, {
    /** Enters. */
    come(signal?: AbortSignal) {
      const user = {};
      const entering = gate.enter(signal, user);
      if (!entering) users.push(user);
      return entering?.then((ms) => {
        users.push(user);
        return ms;
      });
    },
    /** Leaves. */
    go: () => gate.leave(users.shift()!),
  });
}

test("EdgeGate admits at most `max` users, and those that wait when others leave", async () => {
  const gate = inOrder({ max: 2, timeoutMs: 60_000, ...limited(Infinity) });
  assert.deepEqual([gate.come(), gate.come()], [undefined, undefined]);
  let admitted = 0;
  const waiting = [1, 2, 3].map(async () => {
    assert.ok(await gate.come()! >= 0);
    admitted += 1;
  });
  await delay(50);
  assert.deepEqual([admitted, gate.inside, gate.waiting, gate.isFull], [0, 2, 3, true]);
  gate.go();
  await Promise.race(waiting);
  await delay(50);
  assert.deepEqual([admitted, gate.waiting], [1, 2]);
  gate.go();
  gate.go();
  await Promise.all(waiting);
  assert.deepEqual([admitted, gate.inside, gate.waiting], [3, 2, 0]);
});

test("EdgeGate turns away users that wait too long, or whose signal aborts or client leaves", async () => {
  let hasLeft = false;
  const gate = inOrder({
    max: 1,
    timeoutMs: 100,
    ...limited(Infinity),
    goneReason: () => () => hasLeft ? "left" : undefined,
  });
  gate.come();
  const startMs = performance.now();
  await assert.rejects(gate.come()!, TIMED_OUT);
  assert.ok(performance.now() - startMs >= 95);
  const leaving = new AbortController();
  const aborted = gate.come(leaving.signal)!;
  leaving.abort("aborted");
  await assert.rejects(aborted, { cause: "aborted" });
  assert.throws(() => gate.come(leaving.signal), { cause: "aborted" });
  hasLeft = true;
  await assert.rejects(gate.come()!, { cause: "left" });
  assert.deepEqual([gate.inside, gate.waiting], [1, 0]);
});

test("EdgeGate does not count users whose requests have ended without leaving", async () => {
  const gate = inOrder({ max: 1, timeoutMs: 60_000, ...limited(100) });
  gate.come();
  await gate.come()!;
  assert.equal(gate.inside, 1);
  gate.go(); // the first, all the same
  assert.equal(gate.inside, 1);
  gate.go();
  assert.deepEqual([gate.inside, gate.come()], [0, undefined]);
});

test("EdgeGate counts each user for its own stay while others come and go", () => {
  const gate = inOrder({ max: 3, timeoutMs: 60_000, ...limited(100) });
  const { now } = performance;
  let nowMs = 0;
  performance.now = () => nowMs; // nothing else runs meanwhile
  try {
    gate.come();
    for (; nowMs < 1000; nowMs += 40) {
      gate.come();
      gate.come();
      assert.deepEqual([gate.inside, gate.isFull], [3, true], `${nowMs} ms`);
      gate.go();
      gate.go();
    }
  } finally {
    performance.now = now;
  }
});

test("EdgeGate.close() admits nobody, and waits until all have left", async () => {
  const gate = inOrder({ max: 1, timeoutMs: 60_000, ...limited(Infinity) });
  gate.come();
  const waiting = assert.rejects(gate.come()!, CLOSED);
  let isClosed = false;
  const closed = gate.close().then(() => isClosed = true);
  await waiting;
  assert.throws(() => gate.come(), CLOSED);
  assert.deepEqual([gate.isClosed, isClosed], [true, false]);
  gate.go();
  await closed;
});
