/** A project of `fw new`, with the databases and tokens that it needs. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { parseEnv } from "node:util";
import { JwtKey, JwtService } from "../../src/authn/mod.ts";
import { run } from "../../src/cli/system/programs.ts";
import { DevelopmentIdentityProvider } from "../../src/testing/mod.ts";
import { createDatabase } from "../db/support/servers.ts";
import { Subprocess } from "../support/subprocess.ts";
import { fw } from "./fw.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";

/** The options of a project. */
export interface Features {
  readonly strict?: boolean;
  readonly db?: "sqlite" | "postgres" | "mysql" | undefined;
  readonly oauth2?: boolean;
  readonly authn?: boolean;
}

/** Writes features as options of `fw new`. */
export function flagsOf({ strict, db, oauth2, authn }: Features): string {
  const flags = [
    strict && "--strict",
    db && `--db ${db}`,
    oauth2 && "--oauth2",
    authn && "--authn",
  ];
  return flags.filter(Boolean).join(" ");
}

/** A project, which is removed with its databases. */
export class MadeProject implements AsyncDisposable {
  readonly root: string;
  readonly #features: Features;
  readonly #resources: AsyncDisposableStack;
  /** The variables of its databases and tokens. */
  readonly env: Readonly<Record<string, string>>;
  readonly #token: string | undefined;

  private constructor(
    root: string,
    { features, resources, env, token }: {
      features: Features;
      resources: AsyncDisposableStack;
      env: Record<string, string>;
      token: string | undefined;
    },
  ) {
    this.root = root;
    this.#features = features;
    this.#resources = resources;
    this.env = env;
    this.#token = token;
  }

  /** Creates a project named `shop`. */
  static async make(features: Features = {}): Promise<MadeProject> {
    await using resources = new AsyncDisposableStack();
    const folder = resources.use(new TemporaryFolder());
    const made = await fw(`new shop ${flagsOf(features)}`, { cwd: folder.path });
    assert.deepEqual([made.code, made.stderr], [0, ""]);
    const env: Record<string, string> = {};
    if (features.db && features.db !== "sqlite") {
      env["DATABASE_URL"] = resources.use(await createDatabase(features.db)).url;
      env["TEST_DATABASE_URL"] = resources.use(await createDatabase(features.db)).url;
    }
    const root = join(folder.path, "shop");
    let token: string | undefined;
    if (features.authn) {
      const { JWT_KEY = "" } = parseEnv(readFileSync(join(root, ".env"), "utf8"));
      const key = await JwtKey.fromPem(JWT_KEY);
      token = await new JwtService({ issuer: "shop", audience: "shop", key }).sign({
        subject: "alice",
      });
    }
    if (features.oauth2) {
      const audience = "shop";
      const idp = await DevelopmentIdentityProvider.start({ audience, algorithm: "RS256" });
      resources.use(idp);
      env["OAUTH2_ISSUER"] = idp.issuer;
      env["OAUTH2_JWKS_URL"] = idp.jwksUrl;
      env["OAUTH2_AUDIENCE"] = audience;
      token = await idp.issueToken({ subject: "alice" });
    }
    return new MadeProject(root, { features, resources: resources.move(), env, token });
  }

  /** Runs `fw` in it, which has to succeed. Returns the output. */
  async fw(command: string | readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await fw(command, { cwd: this.root, env: this.env });
    assert.deepEqual([code, stderr], [0, ""], `fw ${command}: ${stdout}${stderr}`);
    return stdout;
  }

  /** Runs its checks of formatting, lint, types and tests, which have to pass. Returns the names of its tests. */
  ok(): Promise<readonly string[]> {
    return this.#succeed("ok");
  }

  /** Runs its tests without a check of types, which takes long. Returns their names. */
  test(): Promise<readonly string[]> {
    return this.#succeed("test", "--no-check");
  }

  async #succeed(...task: readonly string[]): Promise<readonly string[]> {
    const env = { ...process.env, NO_COLOR: "1", ...this.env };
    const { code, stdout, stderr } = await run([process.execPath, "task", ...task], {
      cwd: this.root,
      env,
    });
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, /\| 0 failed/);
    assert.doesNotMatch(stdout, /ignored/);
    return [...stdout.matchAll(/^(.+) \.\.\. ok/gm)].map(([, name = ""]) => name);
  }

  /** Serves it as its task `start` does, calls it, and stops it with SIGTERM. It has to exit with 0. */
  async serving(call: (request: Call) => Promise<void>): Promise<void> {
    const { tasks } = JSON.parse(readFileSync(join(this.root, "deno.json"), "utf8"));
    const [, flags = ""] = /^deno run (.+) src\/main\.ts$/.exec(tasks.start.command) ?? [];
    await using app = new Subprocess("src/main.ts", {
      cwd: this.root,
      permissions: flags.split(" "),
      env: { ...this.env, PORT: "0" },
    });
    const port = await app.until(/(?<=Listening on http:\/\/localhost:)\d+/);
    await call((
      path,
      { json, method = json === undefined ? "GET" : "POST", token = this.#token } = {},
    ) =>
      fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: {
          ...json !== undefined && { "content-type": "application/json" },
          ...token !== undefined && { authorization: `Bearer ${token}` },
        },
        ...json !== undefined && { body: JSON.stringify(json) },
      })
    );
    app.kill("SIGTERM");
    const { code, output } = await app.ended;
    assert.equal(code, 0, output);
  }

  /** Serves it, and checks the routes that every project has. */
  async answers(): Promise<void> {
    await this.serving(async (request) => {
      const greeting = await request("/api/");
      assert.match(greeting.headers.get("x-request-id") ?? "", /^[\w-]{36}$/);
      assert.deepEqual([greeting.status, await greeting.text()], [200, "Hello, world!"]);
      const health = await request("/health");
      assert.deepEqual([health.status, (await health.json()).status], [200, "ok"]);
      assert.match(
        await (await request("/metrics")).text(),
        /http_requests_total\{method="GET",route="\/api",status="200"\} 1/,
      );
      const document = await (await request("/openapi.json")).json();
      assert.deepEqual([document.openapi.slice(0, 3), document.info.title], ["3.1", "Shop"]);
      const { oauth2, authn } = this.#features;
      if (oauth2 || authn) {
        assert.deepEqual(await (await request("/api/me")).json(), { subject: "alice" });
        assert.equal((await (await request("/api/me", { token: "x" })).json()).status, 401);
      }
      if (!authn) return;
      const { ADMIN_PASSWORD } = parseEnv(readFileSync(join(this.root, ".env"), "utf8"));
      const json = { name: "admin", password: ADMIN_PASSWORD };
      const session = await request("/api/session", { json });
      assert.equal(session.status, 201);
      const { token } = await session.json();
      assert.deepEqual(await (await request("/api/me", { token })).json(), { subject: "admin" });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync();
  }
}

/** Sends a request to the project, with a token if it has one. */
export type Call = (
  path: string,
  options?: { readonly json?: unknown; readonly method?: string; readonly token?: string },
) => Promise<Response>;
