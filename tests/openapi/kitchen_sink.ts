/**
 * An application that uses every option of OpenAPI, and everything that a route can declare.
 *
 * @module
 */
import * as v from "valibot";
import {
  dto,
  type FwApplication,
  FwFactory,
  HttpException,
  type Module,
  module,
} from "../../mod.ts";
import type { InfoObject, OpenApiOptions } from "../../src/openapi/mod.ts";
import { type Issuer, issuer } from "../oauth2/issuer.ts";
import { AnswersModule } from "./kitchen_sink/answers.ts";
import { InputsModule } from "./kitchen_sink/inputs.ts";
import { ArktypeModule } from "./kitchen_sink/of_arktype.ts";
import { ValibotModule } from "./kitchen_sink/of_valibot.ts";
import { ZodModule } from "./kitchen_sink/of_zod.ts";
import { ShopModule } from "./kitchen_sink/shop.ts";

const INFO: Required<Omit<InfoObject, "title" | "version">> = {
  summary: "Everything at once",
  description: "What **routes** can declare.",
  termsOfService: "https://kitchen.example.org/terms",
  contact: { name: "Cook", url: "https://kitchen.example.org", email: "cook@example.org" },
  license: { name: "MIT", identifier: "MIT" },
};

const SCOPES = {
  read: "To read",
  write: "To write",
  "orders:read": "To read orders",
  "orders:write": "To write orders",
  vault: "To open the vault",
};
const ISSUER = "https://id.example.org";

const Issue = dto("FailureIssue", v.object({ at: v.string(), why: v.string() }));
const Failure = dto(
  "Failure",
  v.strictObject({
    failure: v.strictObject({
      code: v.pipe(v.number(), v.integer(), v.minValue(400), v.maxValue(599)),
      reason: v.string(),
      issues: v.array(Issue),
    }),
  }),
);

/** The media type of its errors. */
export const FAILURE_MEDIA_TYPE = "application/vnd.kitchen.failure+json";

/** Answers every error that no other filter does. */
function failureFilter(error: unknown): Response {
  const { status, message, headers, errors = [] } = HttpException.from(error);
  const issues = errors.map((each) => ({ at: `${each.in} ${each.field}`, why: each.message }));
  const body: v.InferOutput<typeof Failure> = {
    failure: { code: status, reason: message, issues },
  };
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...headers, "content-type": FAILURE_MEDIA_TYPE },
  });
}

/** Every option. */
export const KITCHEN_SINK_OPTIONS: {
  readonly [K in keyof OpenApiOptions]-?: NonNullable<OpenApiOptions[K]>;
} = {
  title: "Kitchen sink",
  version: "1.2.3-rc.1+build",
  info: INFO,
  jsonPath: "/specs/api.json",
  docsPath: "/specs/manual",
  apiPrefix: "api",
  operationId: ({ method, handler }) =>
    method === "OPTIONS" ? handler.replace(/\w+$/, "methods") : handler,
  servers: [
    { url: "/", description: "This one" },
    {
      url: "https://{tenant}.kitchen.example.org:{port}/base",
      variables: {
        tenant: { default: "demo", description: "Whose" },
        port: { default: "443", enum: ["443", "8443"] },
      },
    },
  ],
  documentTags: [
    { name: "Accounts", description: "Who is who" },
    {
      name: "products",
      description: "What is sold",
      externalDocs: { url: "https://kitchen.example.org/products", description: "The catalogue" },
    },
  ],
  components: {
    schemas: {
      Money: { type: "integer", minimum: 0, description: "An amount, in cents" },
      Receipt: {
        type: "object",
        properties: { total: { $ref: "#/components/schemas/Money" } },
        required: ["total"],
      },
    },
    responses: {
      NotFound: {
        description: "It is not here",
        content: {
          [FAILURE_MEDIA_TYPE]: { schema: { $ref: "#/components/schemas/Failure" } },
        },
      },
      Paid: {
        description: "It is paid",
        content: { "application/json": { schema: { $ref: "#/components/schemas/Receipt" } } },
      },
    },
    parameters: { Page: { name: "page", in: "query", schema: { type: "integer" } } },
    examples: { Free: { summary: "For nothing", value: { total: 0 } } },
    headers: { Total: { description: "How many there are", schema: { type: "integer" } } },
    requestBodies: { Pay: { content: { "application/json": { schema: { type: "object" } } } } },
    securitySchemes: {
      apiKey: { type: "apiKey", name: "x-api-key", in: "header", description: "By hand" },
      basic: { type: "http", scheme: "basic" },
      bearerAuth: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
      discovered: {
        type: "openIdConnect",
        openIdConnectUrl: `${ISSUER}/.well-known/openid-configuration`,
      },
      certificate: { type: "mutualTLS" },
      login: {
        type: "oauth2",
        flows: {
          authorizationCode: {
            authorizationUrl: `${ISSUER}/authorize`,
            tokenUrl: `${ISSUER}/token`,
            refreshUrl: `${ISSUER}/refresh`,
            scopes: SCOPES,
          },
          clientCredentials: { tokenUrl: `${ISSUER}/token`, scopes: SCOPES },
          implicit: { authorizationUrl: `${ISSUER}/authorize`, scopes: SCOPES },
          password: { tokenUrl: `${ISSUER}/token`, scopes: SCOPES },
        },
      },
    },
  },
  problem: { schema: Failure, contentType: FAILURE_MEDIA_TYPE },
  security: [{}, { apiKey: [] }, { basic: [], certificate: [] }],
  inferRouteSecurityFromRoles: true,
  rolesSecurityScheme: "login",
  docsUi: "scalar",
  assets: "/scalar/",
  docsSignIn: { clientId: "docs", scopes: ["read"] },
};

/** All of its parts. */
export const KitchenSinkModule: Module = module({
  name: "KitchenSinkModule",
  imports: [ShopModule, InputsModule, AnswersModule, ValibotModule, ZodModule, ArktypeModule],
});

/** The application, and who issues the tokens of its callers. */
export interface KitchenSink extends AsyncDisposable {
  readonly app: FwApplication;
  readonly issuer: Issuer;
}

/** Creates the application; what it verifies are tokens of the issuer that is given with it. */
export async function createKitchenSink(): Promise<KitchenSink> {
  const tokens = await issuer();
  const app = await FwFactory.create(KitchenSinkModule);
  app.setGlobalPrefix("api")
    .enableUriVersioning({ defaultVersion: "v1" })
    .useRequestId()
    .useRateLimit({ max: 1_000_000 })
    .useOAuth2(tokens.verifier)
    .useGlobalFilters(failureFilter)
    .enableOpenApi(KITCHEN_SINK_OPTIONS);
  return { app, issuer: tokens, [Symbol.asyncDispose]: () => app.close() };
}
