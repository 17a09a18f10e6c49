/**
 * A process that sends its first requests to the edge example at once, with SQLite in memory, and
 * prints the ids of the notes that they created.
 *
 * @module
 */
import process from "node:process";
import { JwksServer } from "../oauth2/resource_server/jwks_server.ts";
import { AUDIENCE, ISSUER, SigningKey } from "../oauth2/resource_server/signing_key.ts";

const key = await SigningKey.generate("ES256");
await using provider = await JwksServer.start(key.jwk);
Object.assign(process.env, {
  OAUTH2_ISSUER: ISSUER,
  OAUTH2_AUDIENCE: AUDIENCE,
  OAUTH2_JWKS_URL: provider.url,
  FW_ENV: "production",
});
const { configure } = await import("@logtape/logtape");
await configure({ sinks: {}, loggers: [{ category: ["logtape", "meta"], lowestLevel: "fatal" }] });
const { default: edge } = await import("../../examples/edge.ts");
const token = await key.token({ exp: Math.floor(Date.now() / 1000) + 600 });
const answers = await Promise.all(Array.from({ length: 6 }, async () => {
  const request = new Request("http://localhost/api/v1/notes", {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ text: "Tea" }),
  });
  return await (await edge.fetch(request, {})).json();
}));
console.log(answers.map(({ id }) => id).sort().join(" "));
