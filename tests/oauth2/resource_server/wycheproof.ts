/**
 * The vectors of Project Wycheproof for JSON Web Signatures and Keys, and where they are not followed.
 * They are not part of the package: without them, their tests are skipped.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../support/project.ts";

export type VectorFile = "signature" | "key" | "crypto";

/** One vector, with the keys of its group. */
export interface Vector {
  readonly id: string;
  readonly group: string;
  readonly comment: string;
  readonly isValid: boolean;
  /** The token; one in the JSON serialization as its text. */
  readonly token: string;
  /** The key set: public keys; of groups of symmetric keys these. */
  readonly keys: readonly unknown[];
}

interface Keys {
  readonly keys?: readonly unknown[];
}

interface File {
  readonly testGroups: readonly {
    readonly comment: string;
    readonly public?: Keys;
    readonly private?: Keys;
    readonly tests: readonly {
      readonly tcId: number;
      readonly comment: string;
      readonly result: "valid" | "invalid";
      readonly jws?: unknown;
      readonly jwe?: unknown;
    }[];
  }[];
}

const FOLDER = join(ROOT, "../shared/vectors/wycheproof");

/** The reason if the vectors cannot be run. */
export const SKIP_WYCHEPROOF: string | undefined = existsSync(FOLDER)
  ? undefined
  : "the vectors of Wycheproof are not there";

/** Reads the vectors of a file. */
export function vectorsOf(name: VectorFile): readonly Vector[] {
  const path = join(FOLDER, `json_web_${name}_test.json`);
  const { testGroups } = JSON.parse(readFileSync(path, "utf8")) as File;
  return testGroups.flatMap((group) => {
    const keys = group.public ?? group.private ?? {};
    return group.tests.map(({ tcId, comment, result, jws, jwe }): Vector => {
      const token = jws ?? jwe;
      return {
        id: `${name} ${tcId}`,
        group: group.comment,
        comment,
        isValid: result === "valid",
        token: typeof token === "string" ? token : JSON.stringify(token),
        keys: keys.keys ?? [keys],
      };
    });
  });
}

const HMAC = "HMAC is symmetric: who can check a token could make one";
const EMPTY = "an empty payload has no claims";
const OTHER_ALG = "the key is declared for PS256, the token is signed by PS384 with it";
const NO_ALG = "the key is declared for ES521, which is no algorithm";
const ROCA =
  "the primes of the key are of a known form (CVE-2017-15361), which no platform tells; " +
  "the provider chooses its keys";
const LAX = "characters that are not of Base64url are skipped by some, never here; and HMAC";
const JWE = "the token is encrypted, not signed";

/** An outcome that differs from that of the vector, and the reason. */
export interface Exception {
  readonly outcome: string;
  readonly reason: string;
}

const refused = (reason: string): Exception => ({ outcome: "Validation", reason });
const unknown = (reason: string): Exception => ({ outcome: "UnknownKid", reason });

/** Every vector that is not followed. */
export const EXCEPTIONS: Readonly<Record<VectorFile, Readonly<Record<string, Exception>>>> = {
  signature: {
    "signature 1": refused(HMAC),
    "signature 259": refused(EMPTY),
    "signature 264": refused(EMPTY),
    "signature 268": refused(EMPTY),
    "signature 272": refused(EMPTY),
    "signature 320": refused(EMPTY),
    "signature 325": refused(EMPTY),
    "signature 346": unknown(OTHER_ALG),
    "signature 347": unknown(NO_ALG),
    "signature 348": refused(HMAC),
    "signature 350": unknown(OTHER_ALG),
    "signature 351": unknown(NO_ALG),
    "signature 352": refused(HMAC),
    "signature 357": refused(HMAC),
    "signature 358": refused(HMAC),
    "signature 359": refused(HMAC),
    "signature 372": refused(LAX),
    "signature 373": refused(LAX),
    "signature 376": refused(HMAC),
    "signature 377": refused(HMAC),
  },
  key: {
    "key 2": refused(HMAC),
    "key 7": { outcome: "signed", reason: ROCA },
    "key 13": refused(HMAC),
    "key 14": refused(HMAC),
    "key 15": refused(HMAC),
  },
  crypto: {
    "crypto 1": refused(HMAC),
    "crypto 46": { outcome: "signed", reason: ROCA },
    "crypto 48": refused(HMAC),
    "crypto 50": refused(JWE),
    "crypto 67": refused(JWE),
  },
};
