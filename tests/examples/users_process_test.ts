import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { ROOT } from "../imports.ts";
import { test } from "../test.ts";

const RUN = "Deno" in globalThis ? ["run", "-A"] : [];

interface Example {
  readonly child: ChildProcess;
  readonly url: string;
  readonly output: () => string;
}

/** Starts the users example as its README command does, on a free port and a database of its own. */
async function startExample(folder: string, env: Record<string, string> = {}): Promise<Example> {
  const child = spawn(process.execPath, [...RUN, "examples/users.ts"], {
    cwd: ROOT,
    env: {
      ...process.env,
      PORT: "0",
      HOST: "127.0.0.1",
      DATABASE_URL: `sqlite:${join(folder, "users.sqlite")}`,
      NO_COLOR: "1",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => text += chunk);
  }
  const exited = once(child, "exit").then(() => {
    throw new Error(`The example ended:\n${text}`);
  });
  exited.catch(() => {});
  for (;;) {
    const url = /Listening on (http:\/\/[^;\s]+)/.exec(text)?.[1];
    if (url) return { child, url, output: () => text };
    await Promise.race([once(child.stdout, "data"), exited]);
  }
}

async function withExample(
  body: (example: Example) => Promise<void>,
  env?: Record<string, string>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "fw-users-"));
  const example = await startExample(folder, env);
  const { child } = example;
  const closed = once(child, "close");
  try {
    await body(example);
  } finally {
    child.kill("SIGKILL");
    await closed;
    rmSync(folder, { recursive: true });
  }
}

/** Sends one request on a kept connection; gives its status, or the code of its error. */
function send(url: string, agent: Agent): Promise<number | string> {
  return new Promise((resolve) => {
    const sent = request(url, { agent, headers: { "x-request-id": "load" } }, (response) => {
      response.on("error", (error) => resolve(`body: ${error.message}`));
      response.on("end", () => resolve(response.complete ? response.statusCode ?? 0 : "cut short"));
      response.resume();
    });
    sent.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    sent.end();
  });
}

test("the users example says where it listens and what to try, logs requests and keeps its data", () =>
  withExample(async ({ url, child, output }) => {
    const users = `${url}/api/v1/users/`;
    const created = await fetch(users, {
      method: "POST",
      headers: { "content-type": "application/json", "x-request-id": "made-by-test" },
      body: JSON.stringify({ email: "tom@example.com", name: "Tom" }),
    });
    assert.equal(created.status, 201);
    await created.body?.cancel();
    const listed = await fetch(users);
    assert.deepEqual((await listed.json()).map(({ email }: { email: string }) => email), [
      "tom@example.com",
    ]);
    assert.ok(output().includes(`curl ${users}`));
    const exit = once(child, "exit");
    process.kill(child.pid ?? 0, "SIGTERM");
    assert.deepEqual(await exit, [0, null]);
    assert.match(output(), /POST \/api\/v1\/users\/? 201/);
  }));

test("HTTP table, graceful stop: SIGTERM under load fails no request, and exits with 0", () =>
  withExample(async ({ url, child }) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 16 });
    const results = new Map<number | string, number>();
    const exit = once(child, "exit");
    let running = true;
    async function client(): Promise<void> {
      while (running) {
        const result = await send(`${url}/api/v1/users/?take=5`, agent);
        results.set(result, (results.get(result) ?? 0) + 1);
        // nobody listens any more: the server has let go of the port
        if (result === "ECONNREFUSED") return;
      }
    }
    const clients = Array.from({ length: 16 }, client);
    await new Promise((resolve) => setTimeout(resolve, 500));
    process.kill(child.pid ?? 0, "SIGTERM");
    const [code] = await exit;
    running = false;
    await Promise.all(clients);
    agent.destroy();
    results.delete("ECONNREFUSED");
    assert.equal(code, 0);
    assert.deepEqual([...results.keys()], [200], JSON.stringify([...results]));
    assert.ok((results.get(200) ?? 0) > 100, JSON.stringify([...results]));
  }));

test("Builder methods: listenGraceful() stops on SIGINT as well, in production too", () =>
  withExample(async ({ url, child }) => {
    const health = await fetch(`${url}/health`);
    assert.deepEqual(await health.json(), { status: "ok", checks: { db: { status: "up" } } });
    const exit = once(child, "exit");
    process.kill(child.pid ?? 0, "SIGINT");
    assert.deepEqual(await exit, [0, null]);
  }, { FW_ENV: "production" }));
