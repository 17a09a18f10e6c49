/**
 * The document of the shop, written by hand from OpenAPI 3.1.1, JSON Schema 2020-12 and what the shop
 * declares.
 *
 * @module
 */
import type { JsonSchema, OpenApiDocument, OpenApiOptions } from "../../../src/openapi/mod.ts";
import { problem } from "../described.ts";

const COMPONENTS = {
  schemas: { Money: { type: "integer", minimum: 0, description: "An amount, in cents" } },
  securitySchemes: {
    apiKey: { type: "apiKey", name: "x-api-key", in: "header" },
    oauth: { type: "http", scheme: "bearer" },
  },
} as const;

/** The options that its document is made with. */
export const SHOP_OPTIONS: OpenApiOptions = {
  title: "Shop",
  version: "2.1.0",
  components: COMPONENTS,
  security: [{}, { apiKey: [] }],
  inferRouteSecurityFromRoles: true,
  rolesSecurityScheme: "oauth",
};

const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });
const schema = (name: string) => ref("schemas", name);
const json = (schema: JsonSchema) => ({ content: { "application/json": { schema } } });

const ETAG = {
  ETag: {
    description: "The version of the resource and a digest of the body",
    schema: { type: "string" },
  },
};
const TENANT = {
  name: "tenant",
  in: "path",
  required: true,
  description: "Whose shop it is",
  schema: { type: "string", minLength: 1, maxLength: 20 },
} as const;

const UNAUTHORIZED = { 401: ref("responses", "Unauthorized") };
const FORBIDDEN = { 403: ref("responses", "Forbidden") };
const NOT_FOUND = { 404: ref("responses", "NotFound") };
const UNPROCESSABLE = { 422: ref("responses", "UnprocessableContent") };
const TOO_MANY = { 429: ref("responses", "TooManyRequests") };
const OF_BODIES = {
  400: ref("responses", "BadRequest"),
  413: ref("responses", "ContentTooLarge"),
  415: ref("responses", "UnsupportedMediaType"),
};

const PRODUCT = {
  id: { type: "string", format: "uuid" },
  name: { type: "string", minLength: 2, maxLength: 40 },
  price: schema("Money"),
  stock: { type: "integer", minimum: 0, default: 1 },
  since: { type: "string", format: "date-time" },
  category: schema("Category"),
};

const SUBJECT = {
  200: {
    description: "OK",
    ...json({
      type: "object",
      properties: { subject: { anyOf: [{ type: "string" }, { type: "null" }] } },
      required: ["subject"],
    }),
  },
};

/** Its document. */
export const SHOP_DOCUMENT: OpenApiDocument = {
  openapi: "3.1.1",
  info: { title: "Shop", version: "2.1.0" },
  servers: [{ url: "/" }],
  security: [{}, { apiKey: [] }],
  paths: {
    "/api/v2/{tenant}/products": {
      get: {
        operationId: "ShopModule.ProductsController.listOnSale",
        summary: "List on sale",
        tags: ["products"],
        parameters: [
          TENANT,
          {
            name: "take",
            in: "query",
            required: false,
            description: "How many",
            schema: { type: "integer", minimum: 1, maximum: 100, default: 20 },
          },
          {
            name: "sort",
            in: "query",
            required: false,
            schema: { type: "string", enum: ["name", "price"], default: "name" },
          },
          {
            name: "since",
            in: "query",
            required: false,
            schema: { type: "string", format: "date" },
          },
          {
            name: "cheaper_than",
            in: "query",
            required: false,
            schema: { type: "integer", minimum: 0, maximum: 1_000_000 },
          },
          {
            name: "search",
            in: "query",
            required: true,
            schema: { type: "string", maxLength: 30 },
          },
          {
            name: "x-currency",
            in: "header",
            required: false,
            schema: { type: "string", enum: ["EUR", "USD"], default: "EUR" },
          },
          {
            name: "x-client",
            in: "header",
            required: true,
            schema: { type: "string", minLength: 1 },
          },
        ],
        responses: {
          200: {
            description: "OK",
            ...json({
              type: "object",
              properties: {
                query: {
                  type: "object",
                  propertyNames: { type: "string" },
                  additionalProperties: {},
                },
                currency: { type: "string", enum: ["EUR", "USD"] },
              },
              required: ["query", "currency"],
            }),
          },
          ...NOT_FOUND,
          ...UNPROCESSABLE,
          ...TOO_MANY,
        },
      },
      post: {
        operationId: "ShopModule.ProductsController.create_one",
        summary: "Create one",
        tags: ["products"],
        parameters: [TENANT],
        requestBody: { required: true, ...json(schema("ProductInput")) },
        responses: {
          201: {
            description: "It is sold now",
            headers: { Location: { description: "Its path", schema: { type: "string" } } },
            ...json(schema("Product")),
          },
          ...OF_BODIES,
          ...NOT_FOUND,
          ...UNPROCESSABLE,
          ...TOO_MANY,
        },
      },
    },
    "/api/v2/{tenant}/products/range": {
      put: {
        operationId: "compare",
        summary: "Compare products",
        description: "Gives back what it takes.",
        tags: ["comparisons"],
        parameters: [TENANT],
        requestBody: { required: true, ...json(schema("RangeInput")) },
        responses: {
          200: { description: "OK", ...json(schema("Range")) },
          ...OF_BODIES,
          ...NOT_FOUND,
          ...UNPROCESSABLE,
          ...TOO_MANY,
        },
      },
    },
    "/api/v2/{tenant}/products/{id}": {
      get: {
        operationId: "ShopModule.ProductsController.findByID",
        summary: "Find by ID",
        tags: ["products"],
        parameters: [
          TENANT,
          { name: "id", in: "path", required: true, schema: { type: "string", format: "uuid" } },
        ],
        responses: {
          200: { description: "The product", ...json(schema("Product")) },
          410: problem(410, "It was sold"),
          ...NOT_FOUND,
          ...UNPROCESSABLE,
          ...TOO_MANY,
        },
      },
    },
    "/api/v2/{tenant}/products/categories/{depth}": {
      get: {
        operationId: "ShopModule.ProductsController.category",
        summary: "Category",
        tags: ["products"],
        parameters: [
          { name: "tenant", in: "path", required: true, schema: { type: "string" } },
          {
            name: "depth",
            in: "path",
            required: true,
            schema: { type: "string", pattern: "^(?:[0-9])$" },
          },
          {
            name: "if-none-match",
            in: "header",
            required: false,
            description: "The `ETag` of a response that the client has",
            schema: { type: "string" },
          },
        ],
        responses: {
          200: { description: "OK", headers: ETAG, ...json(schema("Category")) },
          304: { description: "The client has the current version", headers: ETAG },
          ...NOT_FOUND,
          ...TOO_MANY,
        },
      },
    },
    "/api/v1/account/open": {
      get: {
        operationId: "ShopModule.AccountController.open",
        summary: "Open",
        tags: ["Accounts"],
        responses: { ...SUBJECT, ...TOO_MANY },
      },
    },
    "/api/v1/account/guarded": {
      get: {
        operationId: "ShopModule.AccountController.guarded",
        summary: "Guarded",
        tags: ["Accounts"],
        responses: { ...SUBJECT, ...UNAUTHORIZED, ...FORBIDDEN, ...TOO_MANY },
      },
    },
    "/api/v1/account/behind-guard": {
      get: {
        operationId: "ShopModule.AccountController.behindGuard",
        summary: "Behind guard",
        tags: ["Accounts"],
        responses: { ...SUBJECT, ...UNAUTHORIZED, ...TOO_MANY },
        security: [{ oauth: [] }],
      },
    },
    "/api/v1/account/principal": {
      get: {
        operationId: "ShopModule.AccountController.principal",
        summary: "Principal",
        tags: ["Accounts"],
        responses: { ...SUBJECT, ...UNAUTHORIZED, ...TOO_MANY },
        security: [{ oauth: [] }],
      },
    },
    "/api/v1/account/anybody": {
      get: {
        operationId: "ShopModule.AccountController.anybody",
        summary: "Anybody",
        tags: ["Accounts"],
        responses: { ...SUBJECT, ...TOO_MANY },
        security: [{}, { oauth: [] }],
      },
    },
    "/api/v1/account/staff": {
      get: {
        operationId: "ShopModule.AccountController.staff",
        summary: "Staff",
        tags: ["Accounts"],
        responses: {
          ...SUBJECT,
          ...UNAUTHORIZED,
          ...FORBIDDEN,
          ...TOO_MANY,
        },
        security: [{ oauth: [] }],
      },
    },
    "/api/v1/account/orders": {
      get: {
        operationId: "ShopModule.AccountController.orders",
        summary: "Orders",
        tags: ["Accounts"],
        responses: { ...SUBJECT, ...UNAUTHORIZED, ...FORBIDDEN, ...TOO_MANY },
        security: [{ oauth: ["orders:read", "orders:write"] }],
      },
    },
    "/api/v1/account/by-key": {
      get: {
        operationId: "ShopModule.AccountController.byKey",
        summary: "By key",
        tags: ["Accounts"],
        responses: { ...SUBJECT, ...UNAUTHORIZED, ...FORBIDDEN, ...TOO_MANY },
        security: [{ apiKey: [] }],
      },
    },
    "/api/v1/account/everybody": {
      get: {
        operationId: "ShopModule.AccountController.everybody",
        summary: "Everybody",
        tags: ["Accounts"],
        responses: { ...SUBJECT, ...TOO_MANY },
        security: [],
      },
    },
  },
  components: {
    securitySchemes: COMPONENTS.securitySchemes,
    schemas: {
      ...COMPONENTS.schemas,
      Category: {
        type: "object",
        properties: {
          name: { type: "string" },
          parts: { type: "array", items: schema("Category") },
        },
        required: ["name", "parts"],
      },
      Product: {
        type: "object",
        properties: PRODUCT,
        required: ["id", "name", "price", "stock", "since"],
      },
      ProductInput: {
        type: "object",
        properties: PRODUCT,
        required: ["id", "name", "price", "since"],
      },
      Range: {
        type: "object",
        properties: {
          best: schema("Product"),
          others: { type: "array", items: schema("Product") },
        },
        required: ["best", "others"],
      },
      RangeInput: {
        type: "object",
        properties: {
          best: schema("ProductInput"),
          others: { type: "array", items: schema("ProductInput") },
        },
        required: ["best", "others"],
      },
      ProblemDetails: {
        type: "object",
        description: "An error (RFC 9457)",
        properties: {
          type: { type: "string", format: "uri-reference", description: "The kind of problem" },
          title: { type: "string", description: "The name of the status" },
          status: { type: "integer", minimum: 400, maximum: 599 },
          detail: { type: "string", description: "The error of this request" },
          instance: {
            type: "string",
            format: "uri-reference",
            description: "The path of the request",
          },
          requestId: { type: "string", description: "The id of the request in logs" },
          errors: {
            type: "array",
            description: "The error of each invalid value",
            items: schema("ValidationIssue"),
          },
        },
        required: ["type", "title", "status", "instance"],
      },
      ValidationIssue: {
        type: "object",
        description: "The error of an invalid value",
        properties: {
          in: { type: "string", enum: ["body", "query", "path", "header"] },
          field: { type: "string", description: "Its path, such as `a.b.0`" },
          message: { type: "string" },
        },
        required: ["in", "field", "message"],
      },
    },
    responses: {
      BadRequest: problem(400, "The request cannot be read"),
      Unauthorized: problem(401, "Authentication is missing or invalid"),
      Forbidden: problem(403, "The caller is not allowed to do this"),
      NotFound: problem(404, "The resource does not exist"),
      ContentTooLarge: problem(413, "The body is too large"),
      UnsupportedMediaType: problem(415, "The media type of the body is not supported"),
      UnprocessableContent: problem(422, "The input is invalid"),
      TooManyRequests: {
        ...problem(429, "There are too many requests"),
        headers: {
          "Retry-After": {
            description: "The time after which to try again, in seconds",
            required: true,
            schema: { type: "integer", minimum: 0 },
          },
        },
      },
    },
  },
};
