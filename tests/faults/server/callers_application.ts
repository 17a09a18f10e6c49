/** Routes of every protection, and notes of tenants on `DATABASE_URL`, for tokens of `ISSUER`. */
import * as v from "valibot";
import { environment, FwFactory, module, portFromEnv } from "../../../mod.ts";
import { DbOptions } from "../../../src/db/mod.ts";
import { JwksCache, JwtVerifier, ValidationConfig } from "../../../src/oauth2/mod.ts";
import { markSlot, notesModule } from "./notes.ts";
import { protectedModule } from "./protected.ts";

const { DATABASE_URL, ISSUER } = environment(v.object({
  DATABASE_URL: v.optional(v.string(), "sqlite::memory:"),
  ISSUER: v.string(),
}));
const root = module({
  name: "CallersModule",
  imports: [notesModule(DbOptions.fromUrl(DATABASE_URL)), protectedModule],
});
const config = new ValidationConfig("EdDSA").withIssuer(ISSUER).withAudience("shop");
const app = (await FwFactory.create(root))
  .useRequestId()
  .use((c, next) => {
    markSlot.set(c, c.req.header("x-mark"));
    return next();
  })
  .useOAuth2(new JwtVerifier(new JwksCache(`${ISSUER}/jwks`), config), { require: true });
console.log(`ROUTES ${JSON.stringify(app.routes())}`);
await app.listenGraceful(portFromEnv(), { hostname: "127.0.0.1" });
