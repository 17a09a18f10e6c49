/**
 * Tokens that were verified before.
 *
 * @module
 */
import type { Claims } from "./claims.ts";
import type { JwsHeader } from "./compact_jws.ts";
import { BoundedMap } from "../../platform/bounded_map.ts";
import { deepFreeze } from "../../platform/json_object.ts";
import type { KeySource } from "./key_set.ts";
import type { SigningAlgorithm } from "./signing_algorithm.ts";

/** A token that was verified. */
export interface VerifiedToken {
  /** Its header. */
  readonly header: JwsHeader;
  /** Its claims. */
  readonly claims: Claims;
}

interface Entry {
  readonly verified: VerifiedToken;
  readonly alg: SigningAlgorithm;
  readonly key: CryptoKey;
}

/**
 * Keeps what became of tokens, so that one that comes again is not verified again: until it expires,
 * its key leaves the key set, or too many have come after it. A token is found by the whole of it:
 * a digest would take longer than the verification of some, and would have to be compared all the same.
 */
export class VerifiedTokenCache {
  readonly #entries: BoundedMap<string, Entry>;

  /** Creates an empty cache of at most so many tokens. */
  constructor(max: number) {
    this.#entries = new BoundedMap({ max });
  }

  /** Gives what a token was found to be, if that still holds. */
  find(
    token: string,
    { nowSeconds, findKeys }: {
      readonly nowSeconds: number;
      readonly findKeys: KeySource["find"];
    },
  ): VerifiedToken | undefined {
    const entry = this.#entries.get(token);
    if (entry === undefined) return undefined;
    const { verified, alg, key } = entry;
    const holds = nowSeconds < verified.claims.exp &&
      findKeys(verified.header.kid, alg).includes(key);
    if (holds) return verified;
    this.#entries.delete(token);
    return undefined;
  }

  /** Keeps a token; its claims cannot be changed from now on. */
  add(token: string, entry: Entry): void {
    deepFreeze(entry.verified);
    this.#entries.set(token, entry);
  }
}
