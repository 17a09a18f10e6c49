/**
 * The tests of the application of a new project: its own, its proof, and the workflow for both.
 *
 * @module
 */
import { DENO_VERSION } from "../project/framework.ts";
import type { Files, NewProject } from "./new_project.ts";

const WORKFLOW = `name: test
on:
  push:
    branches: [main]
  pull_request:
permissions:
  contents: read
jobs:
  test:
    runs-on: ubuntu-latest
    timeout-minutes: 20
    steps:
      - uses: actions/checkout@v4
      - uses: denoland/setup-deno@v2
        with:
          deno-version: ${DENO_VERSION}
      - run: deno task ok
      - run: deno task fw prove --junit prove.xml
      - uses: actions/upload-artifact@v4
        if: always()
        with:
          name: prove
          path: prove.xml
          if-no-files-found: ignore
`;

/** Returns the files of the tests. */
export function testFiles(project: NewProject): Files {
  return {
    "src/app_test.ts": applicationTest(project),
    "prove.ts": proof(project),
    ".github/workflows/test.yml": WORKFLOW,
  };
}

/** Callers have what is needed; passwords are not checked, so that no environment is needed. */
function proof({ oauth2, authn }: NewProject): string {
  const imports = [
    `import { prove${authn ? ", stub" : ""} } from "@fw/fw/testing";`,
    'import { AppModule, setUp } from "./src/app.ts";',
    authn && 'import { CredentialsService } from "./src/session/credentials_service.ts";',
  ];
  const overrides = authn
    ? `
  // any password of an even length is right
  overrides: [stub(CredentialsService, { isValid: (_, { length }) => length % 2 === 0 })],`
    : "";
  const callers = oauth2 || authn
    ? `
  callers: { ann: { tenant_id: "a" }, bob: { tenant_id: "b" }, root: { roles: ["admin"] } },`
    : "";
  return `/** The application, tested by what it declares: \`deno task fw prove\`. */
${imports.filter(Boolean).join("\n")}

export default prove(AppModule, {
  setUp,${overrides}${callers}
});
`;
}

function applicationTest(project: NewProject): string {
  const { database, oauth2, authn } = project;
  const imports = [
    (database || oauth2 || authn) && 'import { provide } from "@fw/fw";',
    authn && 'import { JwtKey, JwtService } from "@fw/fw/authn";',
    oauth2 && 'import { JwtVerifier, ValidationConfig } from "@fw/fw/oauth2";',
    `import { ${
      [
        "createTestApplication",
        ...oauth2 ? ["DevelopmentIdentityProvider"] : [],
        ...authn ? ["stub"] : [],
      ].join(", ")
    } } from "@fw/fw/testing";`,
    'import assert from "node:assert/strict";',
    'import { AppModule, setUp } from "./app.ts";',
    database && 'import { Db } from "./database.ts";',
    authn && 'import { createJwtService } from "./jwt.ts";',
    authn && 'import { CredentialsService } from "./session/credentials_service.ts";',
    database && 'import { openTestDatabase } from "./test_database.ts";',
  ];
  const overrides = database ? "overrides: [provide(Db, openTestDatabase)], " : "";
  const begin = oauth2
    ? "await using started = await start();"
    : authn
    ? "await using app = await start();"
    : `await using app = await createTestApplication(AppModule, { ${overrides}setUp });`;
  const app = oauth2 ? "started.app" : "app";
  return `${imports.filter(Boolean).join("\n")}
${oauth2 ? startWithProvider(project) : authn ? start(project) : ""}
Deno.test("GET /api/ greets", async () => {
  ${begin}
  const response = await ${app}.client.get.response("/");
  assert.equal(response.status, 200);
  assert.equal(await response.text(), "Hello, world!");
});

Deno.test("responses have security headers, and count against a rate limit", async () => {
  ${begin}
  const { headers } = await ${app}.request("/api/");
  assert.equal(headers.get("x-content-type-options"), "nosniff");
  assert.equal(headers.get("ratelimit-policy"), '"default";q=1000;w=60');
});

Deno.test("GET /health reports ok", async () => {
  ${begin}
  const response = await ${app}.request("/health");
  assert.equal(response.status, 200);
  assert.equal((await response.json()).status, "ok");
});
${oauth2 ? ME_TEST : ""}${authn ? sessionTest(begin, app) : ""}`;
}

const ME_TEST = `
Deno.test("GET /api/me returns the caller, and refuses a request without a token", async () => {
  await using started = await start();
  assert.equal((await started.app.request("/api/me")).status, 401);
  const token = await started.idp.issueToken({ subject: "alice" });
  const headers = { authorization: \`Bearer \${token}\` };
  const response = await started.app.request("/api/me", { headers });
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), { subject: "alice" });
});
`;

function sessionTest(begin: string, app: string): string {
  return `
Deno.test("POST /api/session returns a token for the right password", async () => {
  ${begin}
  const json = { name: "admin", password: "secret" };
  const session = await ${app}.request("/api/session", { json });
  assert.equal(session.status, 201);
  const { token } = await session.json();
  const headers = { authorization: \`Bearer \${token}\` };
  const response = await ${app}.request("/api/me", { headers });
  assert.deepEqual(await response.json(), { subject: "admin" });
});

Deno.test("POST /api/session refuses a wrong password, and GET /api/me a wrong token", async () => {
  ${begin}
  const json = { name: "admin", password: "wrong" };
  assert.equal((await ${app}.request("/api/session", { json })).status, 401);
  const headers = { authorization: "Bearer wrong" };
  assert.equal((await ${app}.request("/api/me", { headers })).status, 401);
});
`;
}

/** Tests replace the key, the password and the database, so that they need no environment. */
function overridesOf({ database, authn }: NewProject): string {
  const overrides = [
    authn && "provide(JwtService, async () => createJwtService(await JwtKey.generate())),",
    authn && 'stub(CredentialsService, { isValid: (_, password) => password === "secret" }),',
    database && "provide(Db, openTestDatabase),",
  ];
  return overrides.filter(Boolean).join("\n      ");
}

function start(project: NewProject): string {
  return `
/** Starts the application with a key and a password for tests. */
function start() {
  return createTestApplication(AppModule, {
    overrides: [
      ${overridesOf(project)}
    ],
    setUp,
  });
}
`;
}

function startWithProvider(project: NewProject): string {
  return `
/** Starts the application, and an identity provider whose tokens it accepts. */
async function start() {
  const idp = await DevelopmentIdentityProvider.start({ audience: "${project.name}" });
  const config = new ValidationConfig()
    .withIssuer(idp.issuer)
    .withAudience("${project.name}");
  const app = await createTestApplication(AppModule, {
    overrides: [
      provide(JwtVerifier, () => JwtVerifier.fromUrl(idp.jwksUrl, config)),
      ${overridesOf(project)}
    ],
    setUp,
  });
  async function close() {
    await app.close();
    await idp.close();
  }
  return { app, idp, [Symbol.asyncDispose]: close };
}
`;
}
