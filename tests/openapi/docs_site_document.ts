/**
 * The OpenAPI document of the site in the tests of the documentation page.
 *
 * @module
 */

const SECURED = {
  me: [{ login: ["openid"] }, { openId: [] }, { token: [] }],
  key: [{ key: [] }],
};

/** Writes the document, whose users are known to a provider. */
export function docsSiteDocument(issuer: string, description: string): object {
  const user = { "application/json": { schema: { $ref: "#/components/schemas/User" } } };
  return {
    openapi: "3.1.0",
    info: { title: "Users API", version: "1.2.3", description },
    servers: [{ url: "/" }],
    tags: [{ name: "users" }, { name: "caller" }],
    paths: {
      "/users": {
        get: operation("users", "List users"),
        post: {
          ...operation("users", "Create a user"),
          requestBody: { required: true, content: user },
          responses: { 201: { description: "The new user", content: user } },
        },
      },
      "/me": { get: { ...operation("caller", "Who the caller is"), security: SECURED.me } },
      "/key": { get: { ...operation("caller", "Which key it has"), security: SECURED.key } },
      "/picture": { get: operation("caller", "A picture of it", "image/png") },
      "/sound": { get: operation("caller", "A sound of it", "audio/mpeg") },
      "/page": { get: operation("caller", "A page about it", "text/html") },
    },
    components: {
      schemas: {
        User: {
          type: "object",
          required: ["name", "email"],
          properties: {
            name: { type: "string", examples: ["Ann"] },
            email: { type: "string", format: "email", examples: ["ann@example.com"] },
          },
        },
      },
      securitySchemes: {
        login: {
          type: "oauth2",
          flows: {
            authorizationCode: {
              authorizationUrl: `${issuer}/authorize`,
              tokenUrl: `${issuer}/token`,
              scopes: { openid: "Who you are", email: "Your address" },
              "x-usePkce": "no", // Scalar must ignore it
            },
          },
        },
        openId: {
          type: "openIdConnect",
          openIdConnectUrl: `${issuer}/.well-known/openid-configuration`,
        },
        token: { type: "http", scheme: "bearer" },
        key: { type: "apiKey", in: "header", name: "x-api-key" },
      },
    },
  };
}

/** The document's operations, by what they are called. */
export const SUMMARIES = [
  "List users",
  "Create a user",
  "Who the caller is",
  "Which key it has",
  "A picture of it",
  "A sound of it",
  "A page about it",
] as const;

function operation(tag: string, summary: typeof SUMMARIES[number], type = "application/json") {
  const responses = { 200: { description: "It is found", content: { [type]: {} } } };
  return { operationId: summary.replaceAll(" ", "-"), summary, tags: [tag], responses };
}
