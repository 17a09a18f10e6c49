import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { RedisRateLimitStore } from "../../src/middleware/rate_limit/flexible_rate_limit_store.ts";
import { RedisLoginStore } from "../../src/oauth2/login/redis_login_store.ts";
import { RedisCommands } from "../../src/platform/redis_commands.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test } from "../support/test.ts";

/** A client of node-redis, as far as the stores use it: without a listener, its errors throw. */
class Client extends EventEmitter {
  sendCommand = () => Promise.resolve(null);
  eval = () => Promise.resolve([1, 1]);
}

for (
  const [name, create] of [
    ["RedisLoginStore", (client: Client) => new RedisLoginStore(client)],
    ["RedisRateLimitStore", (client: Client) => new RedisRateLimitStore(client)],
  ] as const
) {
  test(`${name} logs errors of a client without a listener, which would end the process`, () =>
    captureLogs(["fw"], (records) => {
      const client = new Client();
      create(client);
      create(client);
      assert.equal(client.listenerCount("error"), 1);
      client.emit("error", new Error("Socket closed unexpectedly"));
      assert.deepEqual(
        records.map(({ category, level, properties }) => [category, level, properties]),
        [[["fw", "redis"], "warning", { reason: "Socket closed unexpectedly" }]],
      );
      return Promise.resolve();
    }));

  test(`${name} adds no listener to a client that has one, or that has no events`, () => {
    const client = new Client();
    const listener = () => {};
    client.on("error", listener);
    create(client);
    assert.deepEqual(client.listeners("error"), [listener]);
    create({ sendCommand: client.sendCommand, eval: client.eval } as Client);
  });
}

test("RedisCommands.send() sends no more than the configured number at a time", async () => {
  const commands = new RedisCommands({}, { maxPending: 2 });
  const pending = Promise.withResolvers<number>();
  const sent = [commands.send(() => pending.promise), commands.send(() => pending.promise)];
  let isSent = false;
  const refused = commands.send(() => {
    isSent = true;
    return Promise.resolve(3);
  });
  await assert.rejects(refused, { message: "Cannot send to Redis: 2 commands are pending" });
  assert.equal(isSent, false);
  pending.resolve(1);
  assert.deepEqual(await Promise.all(sent), [1, 1]);
  await assert.rejects(commands.send(() => Promise.reject(new Error("a"))), { message: "a" });
  await assert.rejects(
    commands.send(() => {
      throw new Error("b");
    }),
    { message: "b" },
  );
  assert.equal(await commands.send(() => Promise.resolve(4)), 4);
});
