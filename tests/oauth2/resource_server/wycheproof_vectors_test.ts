import assert from "node:assert/strict";
import { readCompactJws } from "../../../src/oauth2/resource_server/compact_jws.ts";
import { OAuth2Error } from "../../../src/oauth2/ground/errors.ts";
import { JwksCache } from "../../../src/oauth2/resource_server/jwks_cache.ts";
import { test } from "../../support/test.ts";
import { SigningKey } from "./signing_key.ts";
import { verifierBy } from "./skipped_keys.ts";
import {
  EXCEPTIONS,
  SKIP_WYCHEPROOF,
  type Vector,
  type VectorFile,
  vectorsOf,
} from "./wycheproof.ts";

/** A valid key, as a set without any is a failure of the provider. */
const beside = await SigningKey.generate("ES256", { kid: "beside" });

/** What becomes of the vectors of each file, by number. */
const TALLIES: Readonly<Record<VectorFile, Readonly<Record<string, number>>>> = {
  signature: { signed: 26, InvalidSignature: 291, UnknownKid: 15, Validation: 69 },
  key: { signed: 2, UnknownKid: 7, Validation: 17 },
  crypto: { signed: 3, InvalidSignature: 5, UnknownKid: 2, Validation: 73 },
};

for (const file of ["signature", "key", "crypto"] as const) {
  test(`JwtVerifier.verify() follows the vectors of Wycheproof: ${file}`, async () => {
    const tally: Record<string, number> = {};
    const deviations: Record<string, string> = {};
    for (const vector of vectorsOf(file)) {
      const outcome = await outcomeOfVector(vector);
      tally[outcome] = (tally[outcome] ?? 0) + 1;
      if ((outcome === "signed") !== vector.isValid) deviations[vector.id] = outcome;
    }
    const expected = Object.entries(EXCEPTIONS[file]).map(([id, { outcome }]) => [id, outcome]);
    assert.deepEqual(deviations, Object.fromEntries(expected));
    assert.deepEqual(tally, TALLIES[file]);
  }, { skip: SKIP_WYCHEPROOF });
}

test("readCompactJws() follows the vectors of Wycheproof about Base64url", () => {
  const deviations: Record<string, boolean> = {};
  const vectors = vectorsOf("signature").filter(({ group }) => group === "base64");
  for (const { id, token, isValid } of vectors) {
    const isRead = canRead(token);
    if (isRead !== isValid) deviations[id] = isRead;
  }
  assert.equal(vectors.length, 21);
  assert.deepEqual(deviations, {
    // marked as invalid, but the same token as the valid vector 357
    "signature 367": true,
    "signature 370": true,
    // valid for parsers that skip characters outside Base64url
    "signature 372": false,
    "signature 373": false,
  });
  const tokenOf = (id: number) => vectors.find((vector) => vector.id === `signature ${id}`)?.token;
  assert.deepEqual([tokenOf(367), tokenOf(370)], [tokenOf(357), tokenOf(357)]);
}, { skip: SKIP_WYCHEPROOF });

/**
 * Returns `signed` for a token with a valid signature: its payload, which is read only then, is not a
 * claims set in any vector. Otherwise returns the code of its error.
 */
async function outcomeOfVector({ keys, token }: Vector): Promise<string> {
  const cache = new JwksCache("https://id.example.com/jwks", {
    fetch: () => Promise.resolve(Response.json({ keys: [...keys, beside.jwk] })),
  });
  try {
    await verifierBy(cache).verify(token);
    return "accepted";
  } catch (error) {
    if (!(error instanceof OAuth2Error)) throw error;
    const isPayload = /^Cannot verify token: its payload is not (a JSON object|JSON)$/.test(
      error.message,
    );
    return isPayload ? "signed" : error.code;
  }
}

function canRead(token: string): boolean {
  try {
    readCompactJws(token);
    return true;
  } catch (error) {
    assert(error instanceof OAuth2Error && error.code === "Validation");
    return false;
  }
}
