import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Subprocess } from "../support/subprocess.ts";
import { test } from "../support/test.ts";

/** Runs the users example as documented, on a free port with a new database. */
async function withExample(
  body: (url: string, example: Subprocess) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "fw-users-"));
  const DATABASE_URL = `sqlite:${join(folder, "users.sqlite")}`;
  try {
    await using example = new Subprocess("examples/users.ts", {
      env: { PORT: "0", HOST: "127.0.0.1", DATABASE_URL, ...env },
    });
    await example.until(/\/metrics$/m);
    await body(await example.until(/http:\/\/127\.0\.0\.1:\d+/), example);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What a request becomes that was in the backlog of a listener, or came after it. */
const CLOSED = "no longer listening";

/** Sends a request on a kept connection; returns its status, {@linkcode CLOSED}, or the code of its error. */
function send(url: string, agent: Agent): Promise<number | string> {
  return new Promise((resolve) => {
    const sent = request(url, { agent }, (response) => {
      response.on("error", (error) => resolve(`body: ${error.message}`));
      response.on("end", () => resolve(response.complete ? response.statusCode ?? 0 : "cut short"));
      response.resume();
    });
    sent.on("error", ({ code, message }: NodeJS.ErrnoException) => {
      const isClosed = code === "ECONNREFUSED" || code === "ECONNRESET" && !sent.reusedSocket;
      resolve(isClosed ? CLOSED : code ?? message);
    });
    sent.end();
  });
}

test("the users example prints its URL and a command to try, logs requests and keeps its data", () =>
  withExample(async (url, example) => {
    const users = `${url}/api/v1/users/`;
    const created = await fetch(users, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: "tom@example.com", name: "Tom" }),
    });
    assert.equal(created.status, 201);
    await created.body?.cancel();
    const listed: { email: string }[] = await (await fetch(users)).json();
    assert.deepEqual(listed.map(({ email }) => email), ["tom@example.com"]);
    example.kill("SIGTERM");
    const { code, output } = await example.ended;
    assert.equal(code, 0);
    assert.ok(output.includes(`Listening on ${url}`), output);
    assert.ok(output.includes(`curl ${users}`), output);
    assert.match(output, /POST \/api\/v1\/users\/ 201/);
  }));

test("HTTP table, graceful stop: SIGTERM under load fails no request, and exits with 0", () =>
  withExample(async (url, example) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 16 });
    const results = new Map<number | string, number>();
    let running = true;
    async function client(): Promise<void> {
      while (running) {
        const result = await send(`${url}/api/v1/users/?take=5`, agent);
        if (result === CLOSED) return;
        results.set(result, (results.get(result) ?? 0) + 1);
      }
    }
    const clients = Array.from({ length: 16 }, client);
    while ((results.get(200) ?? 0) < 100) await new Promise((resolve) => setTimeout(resolve, 5));
    example.kill("SIGTERM");
    const { code } = await example.ended;
    running = false;
    await Promise.all(clients);
    agent.destroy();
    assert.equal(code, 0);
    assert.deepEqual([...results.keys()], [200], JSON.stringify([...results]));
  }));

test(
  "Builder methods: listenGraceful() stops on SIGINT as well, and logs JSON in production",
  () =>
    withExample(async (url, example) => {
      const health = await fetch(`${url}/health`);
      assert.deepEqual(await health.json(), { status: "ok", checks: { db: { status: "up" } } });
      await (await fetch(`${url}/api/v1/users/1`)).body?.cancel();
      example.kill("SIGINT");
      const { code, output } = await example.ended;
      assert.equal(code, 0);
      const line = output.split("\n").find((line) => line.includes("/api/v1/users/:id")) ?? "";
      assert.equal(JSON.parse(line).properties.status, 404);
    }, { FW_ENV: "production" }),
  { slow: true },
);
