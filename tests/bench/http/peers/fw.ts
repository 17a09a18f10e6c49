/** `fw`, as its documentation writes it, with valibot. */
import { controller, type ControllerClass, FwFactory, module, route } from "@fw/fw";
import * as v from "valibot";
import { receipt, storedRows, TEXT } from "../fixtures.ts";
import { type Mode, options, RATE_LIMIT, RATE_WINDOW_MS } from "./options.ts";
import {
  Item,
  ItemParams,
  ItemQuery,
  Message,
  NewOrder,
  Receipt,
  Rows,
} from "./valibot_schemas.ts";

const { mode, port, issuer, audience, jwksUrl } = options;

class ContestController extends controller() {
  text = route.get("/text", (_, c) => c.text(TEXT));
  json = route.get("/json", { response: Message }, () => ({ message: TEXT }));
  item = route.get(
    "/items/:id",
    { params: ItemParams, query: ItemQuery, response: Item },
    ({ params, query }) => ({ ...params, ...query }),
  );
  order = route.post(
    "/orders",
    { body: NewOrder, response: Receipt, status: 201 },
    ({ body }) => receipt(body),
  );
  rows20 = route.get("/rows/20", { response: Rows }, () => ROWS_20);
  rows1000 = route.get("/rows/1000", { response: Rows }, () => ROWS_1000);
}

class ManyController extends controller("many") {
  constructor() {
    super();
    for (let index = 0; index < options.routes; index++) {
      Object.assign(this, { [`r${index}`]: route.get(`/r${index}/:id`, (_, c) => c.text(TEXT)) });
    }
  }
}

/** A controller of five routes. */
function smallController(index: number): ControllerClass {
  return class SmallController extends controller(`small${index}`) {
    constructor() {
      super();
      for (let n = 0; n < 5; n++) {
        Object.assign(this, { [`r${n}`]: route.get(`/r${n}/:id`, (_, c) => c.text(TEXT)) });
      }
    }
  };
}

const ROWS_20 = storedRows(20);
const ROWS_1000 = storedRows(1000);

/** Listens. */
export async function listen(): Promise<void> {
  const app = await FwFactory.create(module({ controllers: await controllersOf(mode) }));
  if (mode === "stack") {
    app.useRequestId().useRequestTracing().enableMetrics("/metrics")
      .useRateLimit({ max: RATE_LIMIT, windowMs: RATE_WINDOW_MS });
  }
  if (mode === "stack" || mode === "token") {
    const { JwtVerifier, ValidationConfig } = await import("@fw/fw/oauth2");
    const config = new ValidationConfig("ES256").withIssuer(issuer).withAudience(audience);
    app.useOAuth2(await JwtVerifier.fromUrl(jwksUrl, config), { require: true });
  }
  await app.listen(port, { hostname: "127.0.0.1" });
}

async function controllersOf(mode: Mode): Promise<readonly ControllerClass[]> {
  if (mode === "routes") return [ManyController];
  if (mode === "controllers") {
    return Array.from({ length: options.controllers }, (_, index) => smallController(index));
  }
  if (mode !== "token") return [ContestController];
  const { OAuth2Principal } = await import("@fw/fw/oauth2");
  class MeController extends controller() {
    me = route.get("/me", { args: { me: OAuth2Principal } }, ({ me }) => ({ subject: me.subject }));
  }
  return [MeController];
}
