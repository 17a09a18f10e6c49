/**
 * The application of a new project: it greets.
 *
 * @module
 */
import type { Files, NewProject } from "./new_project.ts";

const MAIN = `/** Serves the application, and stops it gracefully on a signal. */
import { environment, FwFactory, portFromEnv } from "@fw/fw";
import * as v from "valibot";
import { AppModule, setUp } from "./app.ts";

const Address = v.object({ HOST: v.optional(v.pipe(v.string(), v.nonEmpty())) });
const { HOST } = environment(Address);
const app = setUp(await FwFactory.create(AppModule));
await app.listenGraceful(portFromEnv(), { hostname: HOST });
`;

const GREETING_CONTROLLER = `import { controller, inject, route } from "@fw/fw";
import { GreetingService } from "./greeting_service.ts";

export class GreetingController extends controller("", { public: true }) {
  readonly #greeting = inject(GreetingService);

  greet = route.get("/", {
    openapi: {
      summary: "Greet",
      responses: { 200: { description: "A greeting", contentType: "text/plain" } },
    },
  }, (_, c) => c.text(this.#greeting.greet("world")));
}
`;

const GREETING_SERVICE_TEST = `import assert from "node:assert/strict";
import { GreetingService } from "./greeting_service.ts";

Deno.test("GreetingService.greet() greets by name", () => {
  assert.equal(new GreetingService().greet("Ada"), "Hello, Ada!");
});
`;

const GREETING_SERVICE = `export class GreetingService {
  greet(name: string): string {
    return \`Hello, \${name}!\`;
  }
}
`;

/** Gives the files of the application. */
export function applicationFiles(project: NewProject): Files {
  return {
    "src/main.ts": MAIN,
    "src/app.ts": app(project),
    "src/app_test.ts": appTest(project),
    "src/greeting/greeting_controller.ts": GREETING_CONTROLLER,
    "src/greeting/greeting_service.ts": GREETING_SERVICE,
    "src/greeting/greeting_service_test.ts": GREETING_SERVICE_TEST,
  };
}

function app({ title, database, oauth2, authn }: NewProject): string {
  const needsToken = oauth2 || authn;
  const imports = [
    oauth2
      ? 'import { type FwApplication, module, provide } from "@fw/fw";'
      : 'import { type FwApplication, module } from "@fw/fw";',
    authn && 'import { JwtService } from "@fw/fw/authn";',
    oauth2 && 'import { JwtVerifier } from "@fw/fw/oauth2";',
    database && 'import { DatabaseModule, Db } from "./database.ts";',
    'import { GreetingController } from "./greeting/greeting_controller.ts";',
    'import { GreetingService } from "./greeting/greeting_service.ts";',
    authn && 'import { JwtModule } from "./jwt.ts";',
    needsToken && 'import { MeController } from "./me/me_controller.ts";',
    oauth2 && 'import { verifierFromEnv } from "./oauth2.ts";',
    authn && 'import { CredentialsService } from "./session/credentials_service.ts";',
    authn && 'import { SessionController } from "./session/session_controller.ts";',
  ];
  const imported = [database && "DatabaseModule", authn && "JwtModule"];
  const providers = [
    oauth2 && "provide(JwtVerifier, verifierFromEnv)",
    authn && "CredentialsService",
    "GreetingService",
  ];
  const controllers = [
    "GreetingController",
    needsToken && "MeController",
    authn && "SessionController",
  ];
  const health = database
    ? '"/health", { indicators: { db: () => app.get(Db).ping() } }'
    : '"/health"';
  const openApi = needsToken
    ? `{
      title: ${JSON.stringify(title)},
      version: "0.1.0",
      components: {
        securitySchemes: { bearerAuth: { type: "http", scheme: "bearer", bearerFormat: "JWT" } },
      },
      inferRouteSecurityFromRoles: true,
    }`
    : `{ title: ${JSON.stringify(title)}, version: "0.1.0" }`;
  const authentication = [
    authn && "\n    .useAuthn(app.get(JwtService), { require: true })",
    oauth2 && "\n    .useOAuth2(app.get(JwtVerifier), { require: true })",
  ];
  return `${imports.filter(Boolean).join("\n")}

/** The application. \`fw generate\` adds to it. */
export const AppModule = module({
  name: "AppModule",
  imports: ${list(imported)},
  providers: ${list(providers)},
  controllers: ${list(controllers)},
});

/** Configures paths, middleware and endpoints.${
    needsToken ? " Every route needs a token unless it declares `public: true`." : ""
  } */
export function setUp(app: FwApplication): FwApplication {
  return app
    .setGlobalPrefix("api")
    .enableUriVersioning()
    .useRequestId()
    .useRequestTracing({ skipPaths: ["/health", "/metrics"] })
    .enableMetrics("/metrics")
    .enableHealthCheck(${health})
    .enableOpenApi(${openApi})
    .enableProductionErrorsFromEnv()${authentication.filter(Boolean).join("")};
}
`;
}

function list(items: readonly (string | false | undefined)[]): string {
  return `[${items.filter(Boolean).join(", ")}]`;
}
function appTest(project: NewProject): string {
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
  const response = await ${app}.request("/api/");
  assert.equal(response.status, 200);
  assert.equal(await response.text(), "Hello, world!");
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
Deno.test("GET /api/me shows the caller, and refuses those without a token", async () => {
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

/** Tests have a key, a password and a database of their own: they read nothing of the environment. */
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
