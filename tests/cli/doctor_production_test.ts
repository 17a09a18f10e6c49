/** `fw doctor --production`: it names each safe default that a real project has turned off. */
import assert from "node:assert/strict";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { testOn } from "../support/test.ts";
import { fw } from "./fw.ts";
import { MadeProject } from "./made_project.ts";

const test = testOn(["deno"], "projects are loaded by it");

/** The environment of a server behind a proxy. */
const SERVER = { FW_ENV: "production", TRUSTED_PROXY_HOPS: "1" };

const OPEN_ENDPOINTS =
  "warning production everybody can read /metrics, /openapi.json, /openapi.yaml, /docs, " +
  "/docs/oauth2-redirect: protect them in the proxy, or by app.use(path)";
const NOTHING = "ok production nothing unsafe was found";

/** What protects the endpoints of a project. */
const GUARD = "    .use(forbidEndpoints)\n    .use(secureHeaders(), ";
const FORBID_ENDPOINTS = `
function forbidEndpoints(c: Context, next: () => Promise<void>): Promise<Response | void> {
  if (!/^\\/(metrics|openapi|docs)/.test(c.req.path)) return next();
  return Promise.resolve(c.text("Staff only", 403));
}
`;

interface Case {
  /** What is turned off. */
  readonly off: string;
  /** Whether it is checked without the slow ones. */
  readonly isTelling?: boolean;
  /** Replacements in `src/app.ts`. */
  readonly edits?: readonly (readonly [from: string, to: string])[];
  /** Variables that differ from those of a server. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The findings about production, with single spaces. */
  readonly found: readonly string[];
}

/** The number of commands that run at once. */
const LANES = 4;

const ROUTES = "GET /api, GET /api/me, POST /api/session";

/** A route that is added to the controller of the greeting. */
function withRoute(options: string): readonly [string, string] {
  return [
    "export const AppModule",
    `class FilesController extends controller("files", { public: true }) {
  add = route.post("/", ${options}, () => undefined);
}

export const AppModule`,
  ];
}
const LISTED = [
  ["controllers: [", "controllers: [FilesController, "],
  ["type Context,", "controller, dto, route, type Context,"],
] as const;
const FILES = 'body: dto("Files", v.object({ text: v.string() }))';

const CASES: readonly Case[] = [
  { off: "nothing", isTelling: true, found: [NOTHING] },
  {
    off: "security headers",
    edits: [["secureHeaders(), ", ""]],
    found: [
      "warning production no strict-transport-security, x-content-type-options, " +
      `x-frame-options for ${ROUTES}: call app.use(secureHeaders())`,
    ],
  },
  {
    off: "the time limit",
    isTelling: true,
    edits: [[", except(isUpload, timeout(30_000))", ""]],
    found: [`warning production no time limit for ${ROUTES}: call app.use(timeout(30_000))`],
  },
  {
    off: "the rate limit",
    edits: [[".useRateLimit({ max: 1000 })", ""]],
    found: ["warning production no rate limit for GET /api, GET /api/me: call useRateLimit()"],
  },
  {
    off: "the trusted proxy",
    env: { TRUSTED_PROXY_HOPS: "0" },
    found: [
      "warning production all clients behind a proxy share the rate limit default: " +
      "set TRUSTED_PROXY_HOPS for useTrustedProxy()",
    ],
  },
  {
    off: "the identity of callers",
    edits: [[", { require: true }", ""]],
    found: [
      "warning production routes that declare nothing are open: " +
      "pass { require: true } to useAuthn() or useOAuth2()",
    ],
  },
  {
    off: "concealed errors",
    isTelling: true,
    edits: [[".enableProductionErrorsFromEnv()", ""]],
    found: [
      "problem production 5xx responses reveal exceptions: call enableProductionErrorsFromEnv()",
    ],
  },
  {
    off: "the body limit",
    edits: [[".useRequestId()", ".useRequestId().useBodyLimit(64 * 1024 * 1024)"]],
    found: [
      "warning production bodies of all routes can have 64 MiB: lower useBodyLimit() to 16 MiB",
    ],
  },
  {
    off: "the body limit of a route",
    edits: [withRoute(`{ bodyLimit: 17 * 1024 * 1024, ${FILES} }`), ...LISTED],
    found: [
      "warning production bodies over 16 MiB are read as a whole by POST /api/files: " +
      "lower its bodyLimit",
    ],
  },
  {
    off: "nothing, for an upload",
    edits: [
      withRoute(`{ bodyLimit: 17 * 1024 * 1024, consumes: ["multipart"], ${FILES} }`),
      ...LISTED,
    ],
    found: [NOTHING],
  },
  {
    off: "the protection of endpoints",
    edits: [["    .use(forbidEndpoints)\n", ""], [FORBID_ENDPOINTS, ""]],
    found: [OPEN_ENDPOINTS],
  },
  {
    off: "what can be observed, behind a password",
    edits: [
      ["secureHeaders(), except", '"/api/me", c => Promise.resolve(c.text("", 401))).use(except'],
    ],
    found: [
      "warning production no strict-transport-security, x-content-type-options, " +
      "x-frame-options for GET /api, POST /api/session: call app.use(secureHeaders())",
      "skipped production middleware refuses GET /api/me without credentials",
    ],
  },
  {
    off: "TLS to a database",
    isTelling: true,
    env: {
      DATABASE_URL: "postgres://shop:x@localhost:5432,two.example.com:5432/shop?sslmode=require",
      REPORTS_DATABASE_URL: "mysql://shop:x@10.0.0.7/shop",
      TEST_DATABASE_URL: "postgres://shop:x@db.example.com/test",
    },
    found: [
      "warning production DATABASE_URL names another host, without verified TLS: " +
      "add ?sslmode=verify-full",
      "warning production REPORTS_DATABASE_URL names another host, without verified TLS: " +
      "add ?ssl-mode=VERIFY_IDENTITY",
    ],
  },
  {
    off: "the origins of scripts",
    edits: [
      [
        "secureHeaders(), except",
        "cors({ origin: (it) => it, credentials: true }), secureHeaders(), except",
      ],
      ["import ", 'import { cors } from "hono/cors";\nimport '],
    ],
    found: [
      `warning production sites of any origin read ${ROUTES} with cookies: list them in cors()`,
    ],
  },
  {
    off: "nothing, with TLS to a database",
    env: {
      DATABASE_URL: "postgres://shop:x@db.example.com/shop?sslmode=verify-full",
      REPORTS_DATABASE_URL: "mysql://shop:x@127.0.0.1/shop",
    },
    found: [NOTHING],
  },
  {
    off: "production",
    env: { FW_ENV: "development" },
    found: ["problem production FW_ENV is development: 5xx responses reveal errors"],
  },
];

test("fw doctor --production names what is unsafe of a project", async () => {
  await using project = await MadeProject.make({ authn: true });
  await checkCases(project, CASES.filter(({ isTelling }) => isTelling));
  assert.deepEqual(await productionOf(project, { app: "src/main.ts", env: SERVER }), [
    "skipped production Cannot load src/main.ts: it exports no AppModule; --app names another file",
  ]);
}, { slow: true });

test("fw doctor --production names each safe default that a project has turned off", async () => {
  await using project = await MadeProject.make({ authn: true });
  await checkCases(project, CASES.filter(({ isTelling }) => !isTelling));
}, { slow: true });

test(
  "fw doctor --production names verifiers that accept the tokens of any issuer or audience",
  async () => {
    await using project = await MadeProject.make();
    const use = "export const config = new ValidationConfig().anyIssuer().anyAudience();\n";
    writeFileSync(
      join(project.root, "src/verifier.ts"),
      `import { ValidationConfig } from "@fw/fw/oauth2";\n\n${use}// .listen(\n`,
    );
    const found = await productionOf(project, { app: "src/app.ts", env: SERVER });
    assert.deepEqual(found.filter((line) => line.includes(" tokens ")), [
      "warning production tokens of every issuer are accepted: call withIssuer(), not anyIssuer()",
      "warning production tokens for other services are accepted: " +
      "call withAudience(), not anyAudience()",
    ]);
  },
  { slow: true },
);

test("fw doctor --production has to be told of the proxy and the endpoints of a new project", async () => {
  await using project = await MadeProject.make({ authn: true });
  const { code, stdout, stderr } = await fw("doctor --production", {
    cwd: project.root,
    env: { FW_ENV: "production" },
  });
  assert.deepEqual([code, stderr], [0, ""]);
  assert.deepEqual(linesOf(stdout).filter((line) => !/^(ok|skipped) /.test(line)), [
    OPEN_ENDPOINTS,
    "warning production all clients behind a proxy share the rate limit default: " +
    "set TRUSTED_PROXY_HOPS for useTrustedProxy()",
  ]);
});

test("fw doctor reports that an application does not boot, also in production alone", async () => {
  await using project = await MadeProject.make({ authn: true });
  const file = join(project.root, "src/app.ts");
  const scaffold = readFileSync(file, "utf8");
  const doctor = async (flags = "", env: Case["env"] = SERVER) => {
    const { code, stdout } = await fw(`doctor ${flags}`, { cwd: project.root, env });
    return [code, linesOf(stdout).filter((line) => / (application|protection) /.test(line))];
  };
  const report = (why: string) => [1, [
    `problem application ${why}`,
    "skipped protection the application cannot be loaded",
  ]];
  const without = scaffold.replace(/\.useAuthn\([^;]*?\}\)/, "");
  assert.notEqual(without, scaffold);
  writeFileSync(file, without);
  const why = "Cannot mount AppModule.MeController.me: me requires an identity, but no " +
    "authentication is installed; call app.useOAuth2() or app.useAuthn()";
  assert.deepEqual(await doctor("", { FW_ENV: "development" }), report(why));
  assert.deepEqual(await doctor("--production"), report(why));
  writeFileSync(
    file,
    `${scaffold}if (Deno.env.get("FW_ENV") === "production") throw new Error("Cannot licence");\n`,
  );
  await project.fw("doctor");
  assert.deepEqual(await doctor("--production"), report("Cannot licence"));
}, { slow: true });

test("fw doctor --production warns about a .env that others can read", async () => {
  await using project = await MadeProject.make();
  const secrets = async () => {
    const { stdout } = await fw("doctor --production", { cwd: project.root, env: SERVER });
    return linesOf(stdout).filter((line) => line.includes(" secrets "));
  };
  assert.deepEqual(await secrets(), ["ok secrets .env is not in the repository"]);
  chmodSync(join(project.root, ".env"), 0o644);
  assert.deepEqual(await secrets(), [
    "warning secrets .env can be read by other users: chmod 600 .env",
  ]);
}, { skip: process.platform === "win32" ? "it has no modes" : undefined, slow: true });

async function checkCases(project: MadeProject, cases: readonly Case[]): Promise<void> {
  const scaffold = readFileSync(join(project.root, "src/app.ts"), "utf8");
  const safe = changed(scaffold, [["    .use(secureHeaders(), ", GUARD]]) + FORBID_ENDPOINTS;
  const found: Record<string, readonly string[]> = {};
  const waiting = cases.entries();
  const lane = async () => {
    for (const [i, { off, edits, env }] of waiting) {
      const app = `src/app_${i}.ts`;
      writeFileSync(join(project.root, app), changed(safe, edits));
      found[off] = await productionOf(project, { app, env: { ...SERVER, ...env } });
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  assert.deepEqual(found, Object.fromEntries(cases.map(({ off, found }) => [off, found])));
}

/** Returns the findings about production of an application in a file. */
async function productionOf(
  { root }: MadeProject,
  { app, env }: {
    readonly app: string;
    readonly env: Readonly<Record<string, string | undefined>>;
  },
): Promise<readonly string[]> {
  const { stdout } = await fw(`doctor --production --app ${app}`, { cwd: root, env });
  return linesOf(stdout).filter((line) => line.includes(" production "));
}

function linesOf(output: string): readonly string[] {
  return output.trim().split("\n").map((line) => line.replaceAll(/ +/g, " "));
}

function changed(text: string, edits: Case["edits"] = []): string {
  return edits.reduce((result, [from, to]) => {
    assert.ok(result.includes(from), from);
    return result.replace(from, () => to);
  }, text);
}
