import type { PendingLogin } from "../../../src/oauth2/login/login_store.ts";

/** A pending login. */
export const PENDING: PendingLogin = {
  verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
  nonce: "6b1d3f5c-5b1d-4c8e-9a55-0f6c7d1e2a3b",
  returnTo: "/a?b=c#d",
  client: "the name of a client",
};

export const TEN_MINUTES_MS = 600_000;
