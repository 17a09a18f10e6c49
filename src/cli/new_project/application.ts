/**
 * The application of a new project.
 *
 * @module
 */
import { testFiles } from "./application_test_file.ts";
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

/** Returns the files of the application. */
export function applicationFiles(project: NewProject): Files {
  return {
    "src/main.ts": MAIN,
    "src/app.ts": app(project),
    ...testFiles(project),
    "src/greeting/greeting_controller.ts": GREETING_CONTROLLER,
    "src/greeting/greeting_service.ts": GREETING_SERVICE,
    "src/greeting/greeting_service_test.ts": GREETING_SERVICE_TEST,
  };
}

function app({ title, database, oauth2, authn }: NewProject): string {
  const needsToken = oauth2 || authn;
  const framework = [
    "type Context",
    "environment",
    "type FwApplication",
    "matchedRoute",
    "module",
    oauth2 && "provide",
    authn && "rateLimit",
  ];
  const imports = [
    `import { ${framework.filter(Boolean).join(", ")} } from "@fw/fw";`,
    authn && 'import { JwtService } from "@fw/fw/authn";',
    'import type { ApiOf } from "@fw/fw/client";',
    oauth2 && 'import { JwtVerifier } from "@fw/fw/oauth2";',
    'import { except } from "hono/combine";',
    'import { secureHeaders } from "hono/secure-headers";',
    'import { timeout } from "hono/timeout";',
    'import * as v from "valibot";',
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

const Hops = v.pipe(v.string(), v.regex(/^\\d{1,2}$/, "Expected 0 to 99"), v.transform(Number));
const Settings = v.object({ TRUSTED_PROXY_HOPS: v.optional(Hops, "0") });

/** The application. \`fw generate\` adds to it. */
export const AppModule = module({
  name: "AppModule",
  imports: ${list(imported)},
  providers: ${list(providers)},
  controllers: ${list(controllers)},
});

/** The routes, for \`createClient<Api>()\` of \`@fw/fw/client\`. */
export interface Api extends ApiOf<typeof AppModule> {}

/** Configures paths, middleware and endpoints.${
    needsToken ? " Every route needs a token unless it declares `public: true`." : ""
  } */
export function setUp(app: FwApplication): FwApplication {
  const { TRUSTED_PROXY_HOPS } = environment(Settings);
  return app
    .setGlobalPrefix("api")
    .enableUriVersioning()
    .useTrustedProxy({ hops: TRUSTED_PROXY_HOPS })
    .useRequestId()
    .useRequestTracing({ skipPaths: ["/health", "/metrics"] })
    .enableMetrics("/metrics")
    .enableHealthCheck(${health})
    .enableOpenApi(${openApi})
    .use(secureHeaders(), except(isUpload, timeout(30_000))) // until a response begins${
    authn ? '\n    .use("/api/session", rateLimit({ name: "login", max: 10 })) // in a minute' : ""
  }
    .useRateLimit({ max: 1000 }) // requests of a client in a minute
    .enableProductionErrorsFromEnv()${authentication.filter(Boolean).join("")};
}

/** Routes with a \`bodyLimit\` over the default of 1 MiB receive files, which takes longer. */
function isUpload(c: Context): boolean {
  return (matchedRoute(c)?.bodyLimit ?? 0) > 1024 * 1024;
}
`;
}

function list(items: readonly (string | false | undefined)[]): string {
  return `[${items.filter(Boolean).join(", ")}]`;
}
