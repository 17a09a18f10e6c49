import assert from "node:assert/strict";
import { MemoryLoginStore } from "../../../src/oauth2/login/login_store.ts";
import { test } from "../../support/test.ts";
import { PENDING, TEN_MINUTES_MS } from "./pending_login.ts";

test("MemoryLoginStore.take() returns a login to one of several concurrent calls", async () => {
  const store = new MemoryLoginStore();
  await store.save("a", PENDING, { ttlMs: TEN_MINUTES_MS });
  const taken = await Promise.all(Array.from({ length: 100 }, () => store.take("a")));
  assert.deepEqual(taken.filter((login) => login !== undefined), [PENDING]);
  assert.equal(await store.take("a"), undefined);
  assert.equal(store.size, 0);
});

test("MemoryLoginStore.take() returns undefined for an unknown state", async () => {
  const store = new MemoryLoginStore();
  await store.save("a", PENDING, { ttlMs: TEN_MINUTES_MS });
  for (const state of ["", "A", "a ", "b", "__proto__", "constructor", "size"]) {
    assert.equal(await store.take(state), undefined);
  }
  assert.deepEqual(await store.take("a"), PENDING);
});

test("MemoryLoginStore.take() returns a login up to its last millisecond", async () => {
  let nowMs = 1_000;
  const store = new MemoryLoginStore({ now: () => nowMs });
  await store.save("a", PENDING, { ttlMs: TEN_MINUTES_MS });
  await store.save("b", PENDING, { ttlMs: TEN_MINUTES_MS });
  nowMs += TEN_MINUTES_MS - 1;
  assert.deepEqual(await store.take("a"), PENDING);
  nowMs += 1;
  assert.equal(await store.take("b"), undefined);
  assert.equal(store.size, 0);
});

test("MemoryLoginStore.save() replaces the oldest login", async () => {
  const store = new MemoryLoginStore({ maxLogins: 3 });
  for (const state of ["a", "b", "c", "d", "e"]) {
    await store.save(state, PENDING, { ttlMs: TEN_MINUTES_MS });
  }
  assert.equal(store.size, 3);
  const taken = await Promise.all(["a", "b", "c", "d", "e"].map((state) => store.take(state)));
  assert.deepEqual(taken.map((login) => login !== undefined), [false, false, true, true, true]);
});

test("MemoryLoginStore.save() replaces expired logins first", async () => {
  let nowMs = 0;
  const store = new MemoryLoginStore({ maxLogins: 3, now: () => nowMs });
  await store.save("a", PENDING, { ttlMs: 10 });
  await store.save("b", PENDING, { ttlMs: 10 });
  nowMs = 10;
  await store.save("c", PENDING, { ttlMs: 10 });
  assert.equal(store.size, 1);
});

test("MemoryLoginStore keeps at most 10 000 logins by default", async () => {
  const store = new MemoryLoginStore();
  for (let i = 0; i < 30_000; i++) await store.save(`${i}`, PENDING, { ttlMs: TEN_MINUTES_MS });
  assert.equal(store.size, 10_000);
  assert.equal(await store.take("19999"), undefined);
  assert.deepEqual(await store.take("20000"), PENDING);
});

test("MemoryLoginStore refuses a max that is not a positive integer", () => {
  for (const max of [0, -1, 1.5, NaN, Infinity]) {
    assert.throws(() => new MemoryLoginStore({ maxLogins: max }), RangeError);
  }
});

test("MemoryLoginStore refuses unknown options", () => {
  const options: object = { max: 5 };
  assert.throws(() => new MemoryLoginStore(options), {
    name: "TypeError",
    message: "Cannot keep logins: max is not an option",
  });
});
