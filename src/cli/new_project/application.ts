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

function app({ title, database, oauth2 }: NewProject): string {
  const imports = [
    oauth2
      ? 'import { type FwApplication, module, provide } from "@fw/fw";'
      : 'import { type FwApplication, module } from "@fw/fw";',
    oauth2 && 'import { JwtVerifier } from "@fw/fw/oauth2";',
    database && 'import { DatabaseModule, Db } from "./database.ts";',
    'import { GreetingController } from "./greeting/greeting_controller.ts";',
    'import { GreetingService } from "./greeting/greeting_service.ts";',
    oauth2 && 'import { MeController } from "./me/me_controller.ts";',
    oauth2 && 'import { verifierFromEnv } from "./oauth2.ts";',
  ];
  const health = database
    ? '"/health", { indicators: { db: () => app.get(Db).ping() } }'
    : '"/health"';
  const openApi = oauth2
    ? `{
      title: ${JSON.stringify(title)},
      version: "0.1.0",
      components: {
        securitySchemes: { bearerAuth: { type: "http", scheme: "bearer", bearerFormat: "JWT" } },
      },
      inferRouteSecurityFromRoles: true,
    }`
    : `{ title: ${JSON.stringify(title)}, version: "0.1.0" }`;
  return `${imports.filter(Boolean).join("\n")}

/** The application. \`fw generate\` adds to it. */
export const AppModule = module({
  name: "AppModule",
  imports: [${database ? "DatabaseModule" : ""}],
  providers: [${oauth2 ? "provide(JwtVerifier, verifierFromEnv), " : ""}GreetingService],
  controllers: [GreetingController${oauth2 ? ", MeController" : ""}],
});

/** Configures paths, middleware and endpoints.${
    oauth2 ? " Every route needs a token unless it says `public: true`." : ""
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
    .enableProductionErrorsFromEnv()${
    oauth2 ? "\n    .useOAuth2(app.get(JwtVerifier), { require: true })" : ""
  };
}
`;
}

function appTest({ name, database, oauth2 }: NewProject): string {
  const imports = [
    (database || oauth2) && 'import { provide } from "@fw/fw";',
    oauth2 && 'import { JwtVerifier, ValidationConfig } from "@fw/fw/oauth2";',
    oauth2
      ? 'import { createTestApplication, DevelopmentIdentityProvider } from "@fw/fw/testing";'
      : 'import { createTestApplication } from "@fw/fw/testing";',
    'import assert from "node:assert/strict";',
    'import { AppModule, setUp } from "./app.ts";',
    database && 'import { Db } from "./database.ts";',
    database && 'import { openTestDatabase } from "./test_database.ts";',
  ];
  const overrides = database ? "overrides: [provide(Db, openTestDatabase)], " : "";
  const begin = oauth2
    ? "await using started = await start();"
    : `await using app = await createTestApplication(AppModule, { ${overrides}setUp });`;
  const app = oauth2 ? "started.app" : "app";
  return `${imports.filter(Boolean).join("\n")}
${oauth2 ? startWithTokens(name, database !== undefined) : ""}
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
${oauth2 ? ME_TEST : ""}`;
}

const ME_TEST = `
Deno.test("GET /api/me tells who is calling, and refuses those without a token", async () => {
  await using started = await start();
  assert.equal((await started.app.request("/api/me")).status, 401);
  const token = await started.idp.issueToken({ subject: "alice" });
  const headers = { authorization: \`Bearer \${token}\` };
  const response = await started.app.request("/api/me", { headers });
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), { subject: "alice" });
});
`;

function startWithTokens(audience: string, hasDatabase: boolean): string {
  return `
/** Starts the application, and an identity provider whose tokens it accepts. */
async function start() {
  const idp = await DevelopmentIdentityProvider.start({ audience: "${audience}" });
  const config = new ValidationConfig()
    .withIssuer(idp.issuer)
    .withAudience("${audience}");
  const app = await createTestApplication(AppModule, {
    overrides: [
      provide(JwtVerifier, () => JwtVerifier.fromUrl(idp.jwksUrl, config)),
      ${hasDatabase ? "provide(Db, openTestDatabase)," : ""}
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
