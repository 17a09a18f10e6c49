import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createDatabase, SERVERS } from "../db/support/servers.ts";
import { freePort } from "../support/free_port.ts";
import { JwksServer } from "../oauth2/resource_server/jwks_server.ts";
import { AUDIENCE, ISSUER, SigningKey } from "../oauth2/resource_server/signing_key.ts";
import { ROOT } from "../support/project.ts";
import { Subprocess } from "../support/subprocess.ts";
import { test, testOn } from "../support/test.ts";
import { type ListedExample, listedExamples, reduced } from "./listed_example.ts";
import { USES } from "./uses.ts";

const denoTest = testOn(["deno"], "permissions are Deno's");

const EXAMPLES = listedExamples();

/** The message of Deno for a missing permission. */
const REFUSED = /Requires (?:net|env|read|write) access to/;

/** The number of processes that run at once. */
const WIDTH = 3;

/** The resources of an example, and a token for those that verify tokens. */
interface Surroundings {
  readonly folder: string;
  readonly jwksUrl: string;
  readonly token: string;
  readonly databaseUrl?: string;
}

async function withSurroundings(body: (given: Surroundings) => Promise<void>): Promise<void> {
  const key = await SigningKey.generate();
  await using jwks = await JwksServer.start(key.jwk);
  const folder = await mkdtemp(join(tmpdir(), "fw-permissions-"));
  try {
    const token = await key.token({ exp: Math.floor(Date.now() / 1000) + 600 });
    await body({ folder, jwksUrl: jwks.url, token });
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Starts an example with the documented permissions, or fewer, on a free port. */
async function start(
  { command, file }: ListedExample,
  permissions: readonly string[],
  { folder, jwksUrl, token, databaseUrl }: Surroundings,
): Promise<AsyncDisposable & { readonly process: Subprocess; use(): Promise<void> }> {
  const port = await freePort(2);
  const here = permissions.map((flag) =>
    flag.replace(":3000", `:${port}`).replace(":3001", `:${port + 1}`)
      .replace("/tmp/", `${folder}/`).replace("id.example.com", new URL(jwksUrl).host)
  );
  const oauth2 = {
    OAUTH2_ISSUER: ISSUER,
    OAUTH2_AUDIENCE: AUDIENCE,
    OAUTH2_JWKS_URL: jwksUrl,
  };
  const process = new Subprocess(file, {
    command,
    permissions: command === "run" ? here : [`--port=${port}`, ...here],
    env: {
      PORT: String(port),
      TMPDIR: "",
      TMP: "",
      TEMP: folder,
      ...command === "serve" && oauth2,
      ...databaseUrl !== undefined && { DATABASE_URL: databaseUrl },
    },
  });
  const use = USES[file] ?? assert.fail(`no request exercises ${file}`);
  return {
    process,
    use: () => use({ origin: `http://127.0.0.1:${port}`, process, token }),
    [Symbol.asyncDispose]: () => process[Symbol.asyncDispose](),
  };
}

test("the documentation lists every file of the examples once", () => {
  const files = readdirSync(join(ROOT, "examples")).map((name) => `examples/${name}`);
  assert.deepEqual(EXAMPLES.map(({ file }) => file).toSorted(), files.toSorted());
});

for (const example of EXAMPLES) {
  denoTest(
    `${example.file} serves with the documented permissions`,
    () =>
      withSurroundings(async (given) => {
        await using started = await start(example, example.permissions, given);
        await started.use();
        if (example.command === "serve") return; // `deno serve` controls how it stops
        started.process.kill("SIGTERM");
        const { code, output } = await started.process.ended;
        assert.equal(code, 0, output);
      }),
    { slow: example.file !== "examples/users.ts" },
  );
}

for (const [brand, more] of [["postgres", ["PG*"]], ["mysql", []]] as const) {
  test(
    `examples/users.ts on ${brand} needs the address of its server instead of files`,
    () =>
      withSurroundings(async (given) => {
        await using database = await createDatabase(brand);
        const example = EXAMPLES.find(({ file }) => file === "examples/users.ts");
        const [net, env] = example?.permissions ?? [];
        const server = new URL(database.url).host;
        const names = env?.replace(",TMPDIR,TMP,TEMP", "");
        const permissions = [`${net},${server}`, [names, ...more].join(",")];
        const databaseUrl = database.url;
        await using started = await start(example!, permissions, { ...given, databaseUrl });
        await started.use();
        started.process.kill("SIGTERM");
        const { code, output } = await started.process.ended;
        assert.equal(code, 0, output);
      }),
    { skip: SERVERS[brand].skip, slow: true },
  );
}

denoTest(
  "an example without one of the documented permissions reports it, and does not serve",
  () =>
    withSurroundings(async (given) => {
      const cases = EXAMPLES.flatMap((example) =>
        reduced(example.permissions).map((lacking) => ({ example, ...lacking }))
      );
      const needless: string[] = [];
      await Promise.all(Array.from({ length: WIDTH }, async () => {
        for (let next = cases.pop(); next; next = cases.pop()) {
          await using started = await start(next.example, next.permissions, given);
          const { ended } = started.process;
          const end = await Promise.race([
            started.use().then(() => "served", () => "failed"),
            ended,
          ]);
          if (end !== "served") await started.process.until(REFUSED);
          else needless.push(`${next.example.file} ${next.without}`);
        }
      }));
      await delay(50); // otherwise Deno reports the last timer as a leak
      assert.deepEqual(needless, []);
    }),
  { slow: true },
);
