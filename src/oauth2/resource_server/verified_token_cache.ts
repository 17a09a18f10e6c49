/**
 * A cache of verified tokens.
 *
 * @module
 */
import type { Claims } from "./claims.ts";
import type { JwsHeader } from "./compact_jws.ts";
import { BoundedMap } from "../../platform/bounded_map.ts";
import { deepFreeze } from "../../platform/json_object.ts";
import type { KeySource } from "./key_set.ts";
import type { SigningAlgorithm } from "./signing_algorithm.ts";

/** A verified token. */
export interface VerifiedToken {
  /** The header. */
  readonly header: JwsHeader;
  /** The claims. */
  readonly claims: Claims;
}

interface Entry {
  readonly verified: VerifiedToken;
  readonly alg: SigningAlgorithm;
  readonly key: CryptoKey;
}

/**
 * Caches verified tokens, so that they are not verified again: until they expire, their key leaves
 * the key set, or newer tokens replace them. The key of an entry is the whole token: a digest can
 * take longer than a verification.
 */
export class VerifiedTokenCache {
  readonly #entries: BoundedMap<string, Entry>;

  /** Creates an empty cache of at most `max` tokens. */
  constructor(max: number) {
    this.#entries = new BoundedMap({ max });
  }

  /** Returns the verified token, if it is still valid. */
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

  /** Adds a token, and freezes its claims. */
  add(token: string, entry: Entry): void {
    deepFreeze(entry.verified);
    this.#entries.set(token, entry);
  }
}
