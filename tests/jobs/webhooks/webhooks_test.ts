import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import type { ServerResponse } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { sql } from "kysely";
import { Webhook } from "standardwebhooks";
import { WebhookEndpointDisabled } from "../../../src/jobs/mod.ts";
import { testOnEach } from "../../db/support/database.ts";
import { captureLogs } from "../../support/capture_logs.ts";
import { Subprocess } from "../../support/subprocess.ts";
import { test } from "../../support/test.ts";
import { until } from "../support/jobs_app.ts";
import { receiving, webhooksApp } from "../support/webhooks_app.ts";

const MEMORY = "sqlite::memory:";
const FIXTURE = "tests/jobs/webhooks/proxy_fixture.ts";
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Checks whether a request is signed by a secret. */
function isSigned(
  { headers, body }: { readonly headers: object; readonly body: string },
  secret: string,
): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

testOnEach("a webhook is part of the transaction, one job for each endpoint", async ({ url }) => {
  await using server = await receiving();
  await using app = await webhooksApp(url);
  const { db, webhooks, jobs } = app;
  const all = await webhooks.add({ url: `${server.url}/all`, owner: "ada" });
  await webhooks.add({ url: `${server.url}/some`, owner: "ada", types: ["order.placed"] });
  await webhooks.add({ url: `${server.url}/other`, owner: "ada", types: ["order.paid"] });
  await webhooks.add({ url: `${server.url}/bob`, owner: "bob" });
  await webhooks.add({ url: `${server.url}/nobody` });
  const off = await webhooks.add({ url: `${server.url}/off`, owner: "ada" });
  assert.equal(await webhooks.disable(off.id, { owner: "ada" }), true);
  const send = () => webhooks.send("order.placed", { data: { id: 1 }, owner: "ada" });
  await assert.rejects(db.transaction(async () => {
    await send();
    throw new Error("rolled back");
  }));
  assert.deepEqual(await jobs.drain(), []);
  const id = await db.transaction(send);
  assert.deepEqual(await jobs.drain(), ["done", "done"]);
  const paths = server.received.map(({ path }) => path).toSorted();
  assert.deepEqual(paths, ["/hook/all", "/hook/some"]);
  const request = server.received.find(({ path }) => path === "/hook/all")!;
  assert.ok(isSigned(request, all.secret));
  assert.equal(request.headers["webhook-id"], id);
  assert.equal(request.headers["content-type"], "application/json");
  assert.deepEqual(JSON.parse(request.body), {
    type: "order.placed",
    timestamp: new Date(app.clock.ms).toJSON(),
    data: { id: 1 },
  });
});

testOnEach("a failed delivery is attempted for three days, under one id", async ({ url }) => {
  await using server = await receiving((response) => void response.writeHead(500).end());
  await using app = await webhooksApp(url);
  const { webhooks, jobs, clock } = app;
  const { id: endpoint, secret } = await webhooks.add({ url: server.url });
  const id = await webhooks.send("a", { data: null });
  const waits = [];
  for (let attempt = 1; attempt < 10; attempt++) {
    assert.deepEqual(await jobs.drain(), ["scheduled"]);
    const [job] = await jobs.list({ states: ["scheduled"] });
    waits.push((job!.runAt.getTime() - clock.ms) / 1000);
    clock.ms = job!.runAt.getTime();
  }
  assert.deepEqual(await jobs.drain(), ["dead"]);
  const least = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
  assert.ok(waits.every((wait, i) => wait >= least[i]! && wait <= least[i]! * 1.11), `${waits}`);
  assert.equal(server.received.length, 10);
  for (const request of server.received) {
    assert.equal(request.headers["webhook-id"], id);
    assert.ok(isSigned(request, secret));
  }
  const attempts = await webhooks.attempts(endpoint);
  assert.deepEqual(
    attempts.map(({ attempt, status, error }) => [attempt, status, error]),
    [10, 9, 8, 7, 6, 5, 4, 3, 2, 1].map((n) => [n, 500, "the status is 500"]),
  );
  assert.equal((await webhooks.list())[0]?.isEnabled, true);
});

testOnEach("webhooks to an endpoint that fails come after those to others", async ({ url }) => {
  await using server = await receiving((response, path) =>
    void response.writeHead(path === "/hook/bad" ? 500 : 204).end()
  );
  await using app = await webhooksApp(url);
  const { webhooks, jobs } = app;
  await webhooks.add({ url: `${server.url}/bad`, owner: "ada" });
  await webhooks.add({ url: `${server.url}/good`, owner: "bob" });
  const send = (owner: string) => webhooks.send("a", { data: null, owner });
  for (const owner of ["ada", "ada", "bob"]) await send(owner);
  assert.deepEqual(await jobs.drain(), ["scheduled", "released", "done", "scheduled"]);
  for (const owner of ["ada", "bob"]) await send(owner);
  assert.deepEqual(await jobs.drain(), ["done", "scheduled"]);
  assert.deepEqual(
    server.received.map(({ path }) => path.slice("/hook/".length)),
    ["bad", "good", "bad", "good", "bad"],
  );
  const retried = await jobs.list({ states: ["scheduled"] });
  assert.deepEqual(retried.map(({ priority, attempts }) => [priority, attempts]), [
    [-1, 1],
    [-1, 1],
    [-1, 1],
  ]);
});

testOnEach("an endpoint that has failed for a week is disabled, once", async ({ url }) => {
  await captureLogs(["fw", "jobs"], async (records) => {
    let status = 500;
    await using server = await receiving((response) => void response.writeHead(status).end());
    const disabled: unknown[] = [];
    const handlers = { off: WebhookEndpointDisabled.on(({ body }) => void disabled.push(body)) };
    await using app = await webhooksApp(url, { handlers });
    const { webhooks, jobs, clock } = app;
    const { id } = await webhooks.add({ url: server.url, owner: "ada" });
    const attempt = async (times = 1) => {
      await webhooks.send("a", { data: 1, owner: "ada" });
      let outcome: unknown;
      for (let time = 1; time <= times; time++) {
        [outcome] = await jobs.drain();
        if (time < times) clock.ms += HOUR_MS;
      }
      const [endpoint] = await webhooks.list({ owner: "ada" });
      for (const job of await jobs.list({ states: ["scheduled"] })) await jobs.cancel(job.id);
      return [outcome, endpoint!.isEnabled, endpoint!.failingSince?.getTime() ?? null];
    };
    const begin = clock.ms;
    assert.deepEqual(await attempt(), ["scheduled", true, begin]);
    clock.ms += 6 * DAY_MS;
    assert.deepEqual(await attempt(), ["scheduled", true, begin]);
    status = 200;
    assert.deepEqual(await attempt(), ["done", true, null]);
    status = 503;
    clock.ms += DAY_MS;
    const again = clock.ms;
    assert.deepEqual(await attempt(), ["scheduled", true, again]);
    clock.ms += 7 * DAY_MS - 1;
    assert.deepEqual(await attempt(), ["scheduled", true, again]);
    clock.ms += 1;
    assert.deepEqual(await attempt(), ["scheduled", true, again]); // the endpoint may have been idle
    assert.deepEqual(await attempt(4), ["dead", false, again]);
    assert.deepEqual(disabled, [
      { endpointId: id, owner: "ada", url: server.url, reason: "failing" },
    ]);
    const lines = records.filter(({ properties }) => properties["id"] === id);
    assert.deepEqual(lines.map(({ level, properties }) => [level, properties["reason"]]), [
      ["warning", "failing"],
    ]);
    assert.equal((await attempt())[0], undefined);
    assert.equal(await webhooks.enable(id, { owner: "ada" }), true);
    status = 200;
    assert.deepEqual(await attempt(), ["done", true, null]);
  });
});

test("a success counts for attempts that began before it, and are still under way", async () => {
  const held: ServerResponse[] = [];
  await using server = await receiving((response) => void held.push(response));
  await using app = await webhooksApp(MEMORY);
  const { webhooks, jobs, clock } = app;
  await webhooks.add({ url: server.url });
  jobs.onWorkersStart({ isServing: true });
  const running = async () => (await jobs.list({ states: ["running"] })).length;
  const attempt = async (statuses: readonly number[]) => {
    held.length = 0;
    for (const _ of statuses) await webhooks.send("a", { data: 1 });
    await until(() => held.length === statuses.length);
    for (const [index, status] of statuses.entries()) {
      held[index]!.writeHead(status).end();
      await until(async () => await running() === statuses.length - index - 1);
    }
    for (const job of await jobs.list({ states: ["scheduled"] })) await jobs.cancel(job.id);
    const [endpoint] = await webhooks.list();
    return [endpoint!.isEnabled, endpoint!.failingSince?.getTime() ?? null];
  };
  assert.deepEqual(await attempt([500, 204]), [true, null]);
  assert.deepEqual(await attempt([500]), [true, clock.ms]);
  clock.ms += 8 * DAY_MS;
  assert.deepEqual(await attempt([204, 500]), [true, clock.ms]);
});

test("410 disables an endpoint at once, and what waits for it is not sent", async () => {
  await using server = await receiving((response) => void response.writeHead(410).end());
  const disabled: unknown[] = [];
  const handlers = {
    off: WebhookEndpointDisabled.on(({ body }) => void disabled.push(body.reason)),
  };
  await using app = await webhooksApp(MEMORY, { handlers });
  const { webhooks, jobs } = app;
  await webhooks.add({ url: server.url });
  await webhooks.send("a", { data: 1 });
  await webhooks.send("a", { data: 2 });
  assert.deepEqual(await jobs.drain(), ["dead", "cancelled"]);
  assert.equal(server.received.length, 1);
  assert.deepEqual(disabled, ["gone"]);
  const [dead] = await jobs.list({ states: ["dead"] });
  assert.equal(dead?.reason, "the status is 410, and its endpoint is disabled");
  const [endpoint] = await webhooks.list();
  assert.deepEqual([endpoint!.isEnabled, endpoint!.reason], [false, "gone"]);
});

test("while a secret is rotated, both sign; then the new one alone", async () => {
  await using server = await receiving();
  await using app = await webhooksApp(MEMORY);
  const { webhooks, jobs, clock } = app;
  const { id, secret } = await webhooks.add({ url: server.url });
  const next = await webhooks.rotateSecret(id, { keepMs: HOUR_MS });
  assert.notEqual(next, secret);
  const signedBy = async () => {
    await webhooks.send("a", { data: 1 });
    await jobs.drain();
    return [secret, next].map((each) => isSigned(server.received.at(-1)!, each));
  };
  assert.deepEqual(await signedBy(), [true, true]);
  clock.ms += HOUR_MS - 1;
  assert.deepEqual(await signedBy(), [true, true]);
  clock.ms += 1;
  assert.deepEqual(await signedBy(), [false, true]);
  const listed = JSON.stringify(await webhooks.list());
  assert.ok(!listed.includes(secret) && !listed.includes(next));
});

test("redirects are not followed", async () => {
  await using server = await receiving((response, path) => {
    if (path === "/elsewhere") response.writeHead(204).end();
    else response.writeHead(307, { location: "/elsewhere" }).end();
  });
  await using app = await webhooksApp(MEMORY);
  const { id } = await app.webhooks.add({ url: server.url });
  await app.webhooks.send("a", { data: 1 });
  assert.deepEqual(await app.jobs.drain(), ["scheduled"]);
  assert.deepEqual(server.received.map(({ path }) => path), ["/hook"]);
  const [attempt] = await app.webhooks.attempts(id);
  assert.deepEqual([attempt!.status, attempt!.error], [307, "the status is 307"]);
});

test("an attempt is limited in time, and an endless response in size", async () => {
  const chunk = "x".repeat(10_000);
  let sent = 0;
  await using server = await receiving((response, path) => {
    if (path === "/silent") return;
    response.writeHead(200);
    const write = () => {
      if (response.destroyed || response.closed) return;
      sent += chunk.length;
      response.write(chunk, () => setTimeout(write, 0));
    };
    write();
  });
  await using app = await webhooksApp(MEMORY, { timeoutMs: 5000 });
  const endless = await app.webhooks.add({ url: server.url });
  await app.webhooks.send("a", { data: 1 });
  assert.deepEqual(await app.jobs.drain(), ["done"]);
  assert.equal((await app.webhooks.attempts(endless.id))[0]!.status, 200);
  assert.ok(sent < 50_000_000, `${sent} characters`);
  await app.webhooks.remove(endless.id);
  await using quick = await webhooksApp(MEMORY, { timeoutMs: 100 });
  const silent = await quick.webhooks.add({ url: `http://127.0.0.1:${server.port}/silent` });
  await quick.webhooks.send("a", { data: 1 });
  assert.deepEqual(await quick.jobs.drain(), ["scheduled"]);
  const [attempt] = await quick.webhooks.attempts(silent.id);
  assert.deepEqual([attempt!.status, attempt!.error], [null, "no answer in 100 ms"]);
});

test("a change of the protocol is a failed attempt at once", async () => {
  for (const headers of ["connection: upgrade\r\nupgrade: websocket\r\n", ""]) {
    const server = createServer((socket) => {
      socket.on("error", () => {}).once("data", () => {
        socket.write(`HTTP/1.1 101 Switching Protocols\r\n${headers}\r\n`);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      await using app = await webhooksApp(MEMORY, { timeoutMs: 600_000 });
      const { port } = server.address() as AddressInfo;
      const { id } = await app.webhooks.add({ url: `http://127.0.0.1:${port}/` });
      await app.webhooks.send("a", { data: 1 });
      assert.deepEqual(await app.jobs.drain(), ["scheduled"]);
      const [attempt] = await app.webhooks.attempts(id);
      assert.deepEqual([attempt!.status, attempt!.error], [101, "the status is 101"]);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  }
});

test("a body that does not end holds up no worker, and the status counts", async () => {
  await using server = await receiving((response) => {
    response.writeHead(200);
    response.write("and");
  });
  await using app = await webhooksApp(MEMORY, { timeoutMs: 600_000 });
  const { id } = await app.webhooks.add({ url: server.url });
  await app.webhooks.send("a", { data: 1 });
  assert.deepEqual(await app.jobs.drain(), ["done"]);
  assert.equal((await app.webhooks.attempts(id))[0]!.status, 200);
});

test("interim responses without end are cut off", async () => {
  const server = createServer((socket) => {
    const write = () => {
      while (!socket.destroyed && socket.write("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(100)));
    };
    socket.on("drain", write).on("error", () => {}).once("data", write);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await using app = await webhooksApp(MEMORY);
    const { port } = server.address() as AddressInfo;
    const { id } = await app.webhooks.add({ url: `http://127.0.0.1:${port}/` });
    await app.webhooks.send("a", { data: 1 });
    assert.deepEqual(await app.jobs.drain(), ["scheduled"]);
    const [attempt] = await app.webhooks.attempts(id);
    assert.deepEqual([attempt!.status, attempt!.error], [null, "no status in 65536 bytes"]);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});

test("a connection is to an address that was checked, under the name of the host", async () => {
  await using server = await receiving();
  const asked: string[] = [];
  const resolve = (host: string) => {
    asked.push(host);
    return Promise.resolve(["127.0.0.1"]);
  };
  await using app = await webhooksApp(MEMORY, { resolve });
  await app.webhooks.add({ url: `http://hooks.invalid:${server.port}/a?b=c` });
  await app.webhooks.send("a", { data: 1 });
  assert.deepEqual(await app.jobs.drain(), ["done"]);
  assert.deepEqual(asked, ["hooks.invalid"]);
  const [{ path, headers }] = server.received as [typeof server.received[0]];
  assert.deepEqual([path, headers.host], ["/a?b=c", `hooks.invalid:${server.port}`]);
});

test("proxies of the environment are not used, which would resolve the name again", async () => {
  await using proxy = await receiving();
  await using server = await receiving();
  const url = server.url.replace("127.0.0.1", "host.example");
  const { origin } = new URL(proxy.url);
  const variables = ["HTTP_PROXY", "http_proxy"].map((name) => [name, origin]);
  const env = { ...Object.fromEntries(variables), NODE_USE_ENV_PROXY: "1", NO_PROXY: "" };
  await using posting = new Subprocess(FIXTURE, { args: [url], env });
  const { output } = await posting.ended;
  assert.match(output, /status 204/);
  assert.equal(server.received.length, 1);
  assert.deepEqual(proxy.received, []);
});

test("addresses that are not public are refused when a webhook is sent", async () => {
  await using app = await webhooksApp(MEMORY, {
    allowLocal: false,
    resolve: () => Promise.resolve(["93.184.215.14", "10.0.0.7"]),
  });
  const { id } = await app.webhooks.add({ url: "https://hooks.invalid/" });
  await app.webhooks.send("a", { data: 1 });
  assert.deepEqual(await app.jobs.drain(), ["scheduled"]);
  const [attempt] = await app.webhooks.attempts(id);
  assert.deepEqual([attempt!.status, attempt!.error], [
    null,
    "its host has an address that is not public",
  ]);
});

test("the log of attempts is kept for keepMs", async () => {
  await using server = await receiving();
  await using app = await webhooksApp(MEMORY, { keepMs: DAY_MS });
  const { webhooks, jobs, clock } = app;
  const { id } = await webhooks.add({ url: server.url });
  const attempts = async () => {
    await webhooks.send("a", { data: 1 });
    await jobs.drain();
    return (await webhooks.attempts(id)).length;
  };
  assert.equal(await attempts(), 1);
  clock.ms += DAY_MS;
  assert.equal(await attempts(), 2);
  clock.ms += HOUR_MS;
  assert.equal(await attempts(), 2);
  assert.equal((await webhooks.attempts(id, { take: 1 })).length, 1);
});

test("of a log that is long, old attempts are removed faster than others are added", async () => {
  await using server = await receiving();
  await using app = await webhooksApp(MEMORY, { keepMs: DAY_MS });
  const { db, webhooks, jobs, clock } = app;
  const { id } = await webhooks.add({ url: server.url });
  await webhooks.send("a", { data: 1 });
  await jobs.drain();
  const { seq: _, ...row } = (await db.fwWebhookAttempt.findFirst())!;
  await db.fwWebhookAttempt.createMany({ data: Array.from({ length: 2000 }, () => row) });
  clock.ms += DAY_MS + 1;
  for (let count = 0; count < 3; count++) await webhooks.send("a", { data: 1 });
  await jobs.drain();
  assert.equal((await webhooks.attempts(id, { take: 1000 })).length, 3);
});

testOnEach("old attempts that another process removes hold up no delivery", async ({ url }) => {
  await using server = await receiving();
  await using app = await webhooksApp(url, { keepMs: DAY_MS });
  const { db, webhooks, jobs, clock } = app;
  const { id } = await webhooks.add({ url: server.url });
  const outside = AsyncLocalStorage.snapshot();
  await webhooks.send("a", { data: 1 });
  await jobs.drain();
  const [old] = await db.fwWebhookAttempt.findMany();
  clock.ms += DAY_MS + 1;
  await webhooks.send("a", { data: 2 });
  await db.transaction(async () => {
    await db.fwWebhookAttempt.findUnique({ where: { seq: old!.seq }, lock: "update" });
    assert.deepEqual(await outside(() => jobs.drain()), ["done"]);
  });
  assert.equal((await webhooks.attempts(id)).length, 2);
  clock.ms += HOUR_MS;
  await webhooks.send("a", { data: 3 });
  await jobs.drain();
  assert.equal((await webhooks.attempts(id)).length, 2);
}, { brands: ["postgres", "mysql"] });

testOnEach("a webhook is sent once though old attempts cannot be removed", async ({ url }) => {
  await using server = await receiving();
  await captureLogs(["fw", "jobs"], async (records) => {
    await using app = await webhooksApp(url, { keepMs: DAY_MS });
    await app.webhooks.add({ url: server.url });
    await app.webhooks.send("a", { data: 1 });
    await app.jobs.drain();
    await sql`create trigger kept before delete on fw_webhook_attempts
      begin select raise(abort, 'kept'); end`.execute(app.db.kysely);
    app.clock.ms += DAY_MS + 1;
    await app.webhooks.send("a", { data: 2 });
    assert.deepEqual(await app.jobs.drain(), ["done"]);
    assert.deepEqual(records.map(({ rawMessage }) => rawMessage), [
      "Old attempts of webhooks cannot be removed: {error}",
    ]);
  });
  assert.equal(server.received.length, 2);
}, { brands: ["sqlite"] });

test("add(), send() and rotateSecret() refuse what is invalid", async () => {
  await using app = await webhooksApp(MEMORY, { allowLocal: false });
  const { webhooks } = app;
  const url = "https://hooks.invalid/";
  const refused: readonly (readonly [call: () => Promise<unknown>, message: string])[] = [
    [() => webhooks.add({ url, types: ["a b"] }), 'add endpoint: "a b" is not a type of webhooks'],
    [() => webhooks.add({ url, types: [1 as never] }), "add endpoint: 1 is not a type of webhooks"],
    [
      () => webhooks.add({ url, types: Array(101).fill("a") }),
      "add endpoint: types has more than 100 items",
    ],
    [() => webhooks.add({ url, types: "a" as never }), "add endpoint: types is not an array"],
    [() => webhooks.add({ url, oner: "a" } as never), "add endpoint: oner is not an option"],
    [
      () => webhooks.add({ url, secret: "secret" }),
      'add endpoint: the secret is not "whsec_" and the base64 of 24 to 64 bytes',
    ],
    [
      () => webhooks.send("a b", { data: 1 }),
      'send webhook "a b": a type has 1 to 100 letters, digits, ".", "_" and "-"',
    ],
    [
      () => webhooks.send("a", { data: 1, oner: "a" } as never),
      'send webhook "a": oner is not an option',
    ],
    [
      () => webhooks.rotateSecret("a", { keep: 1 } as never),
      "rotate secret: keep is not an option",
    ],
    [() => webhooks.send("a", { data: 1n }), 'send webhook "a": its data is not JSON'],
    [
      () => webhooks.send("a", { data: "x".repeat(262_144) }),
      'send webhook "a": its body is longer than 262144 characters',
    ],
    [
      () => webhooks.send("a", { data: 1, id: "a.b" }),
      'send webhook "a": an id has 1 to 100 letters, digits, "_" and "-"',
    ],
  ];
  for (const [call, message] of refused) {
    await assert.rejects(call, new TypeError(`Cannot ${message}`));
  }
  for (
    const [wrong, why] of [
      ["/hook", "is not absolute"],
      ["http://a.invalid", "is not https"],
      ["https://a:b@c.invalid", "has a user"],
      [`${url}${"a".repeat(2048)}`, "is longer than 2048 characters"],
      [`${url}#a`, "has a fragment"],
    ] as const
  ) { // what its owner has sent: 422
    const { status, message } = await app.webhooks.add({ url: wrong }).catch((error) => error);
    assert.deepEqual([status, message], [422, `Cannot add endpoint: its URL ${why}`]);
  }
  await assert.rejects(
    webhooks.rotateSecret("a", { keepMs: -1 }),
    new RangeError("Cannot rotate secret: keepMs is not a whole number of 0 or more"),
  );
});
