import assert from "node:assert/strict";
import type { SigningAlgorithm } from "../../../src/oauth2/resource_server/signing_algorithm.ts";
import { ValidationConfig } from "../../../src/oauth2/resource_server/validation_config.ts";
import { test } from "../../support/test.ts";
import { ALGORITHMS } from "./resource_server.ts";

const settingsOf = (config: ValidationConfig) => ({
  algorithms: config.algorithms,
  issuer: config.issuer,
  audience: config.audience,
  tokenType: config.tokenType,
  leewaySeconds: config.leewaySeconds,
});

const DEFAULTS = {
  algorithms: ["EdDSA"],
  issuer: undefined,
  audience: undefined,
  tokenType: undefined,
  leewaySeconds: 60,
};

test("ValidationConfig accepts only EdDSA, and 60 seconds of leeway, by default", () => {
  assert.deepEqual(settingsOf(new ValidationConfig()), DEFAULTS);
  assert.deepEqual(settingsOf(new ValidationConfig("PS256")), {
    ...DEFAULTS,
    algorithms: ["PS256"],
  });
});

test("ValidationConfig is immutable: each method returns a new one that differs in one setting", () => {
  const config = new ValidationConfig();
  const changes = [
    [config.withAlgorithms(["ES256", "RS256"]), { algorithms: ["ES256", "RS256"] }],
    [config.withIssuer("i"), { issuer: "i" }],
    [config.withAudience("a"), { audience: "a" }],
    [config.withTokenType("application/AT+JWT"), { tokenType: "at+jwt" }],
    [config.withLeeway(5), { leewaySeconds: 5 }],
  ] as const;
  for (const [changed, difference] of changes) {
    assert.deepEqual(settingsOf(changed), { ...DEFAULTS, ...difference });
  }
  assert.deepEqual(settingsOf(config), DEFAULTS);
  const all = new ValidationConfig("ES256").withIssuer("i").withAudience("a").withLeeway(0)
    .withTokenType("jwt").withAlgorithms(["ES384"]).withAudience("b");
  assert.deepEqual(settingsOf(all), {
    algorithms: ["ES384"],
    issuer: "i",
    audience: "b",
    tokenType: "jwt",
    leewaySeconds: 0,
  });
});

test("ValidationConfig.anyIssuer() and anyAudience() accept all on purpose, and contradict names", () => {
  const config = new ValidationConfig();
  const acceptsAny = (
    { acceptsAnyIssuer, acceptsAnyAudience }: ValidationConfig,
  ) => [acceptsAnyIssuer, acceptsAnyAudience];
  assert.deepEqual(acceptsAny(config.anyIssuer()), [true, false]);
  assert.deepEqual(acceptsAny(config.anyAudience()), [false, true]);
  assert.deepEqual(acceptsAny(config.anyIssuer().withAudience("a").withLeeway(5)), [true, false]);
  assert.deepEqual(acceptsAny(config), [false, false]);
  for (const any of [config.anyIssuer(), config.anyAudience().anyAudience()]) {
    assert.deepEqual(settingsOf(any), DEFAULTS);
  }
  const contradictions: readonly [() => unknown, string][] = [
    [() => config.withIssuer("i").anyIssuer(), "Cannot use anyIssuer(): withIssuer() names one"],
    [
      () => config.anyIssuer().withIssuer(() => "i"),
      "Cannot use withIssuer(): anyIssuer() accepts every issuer",
    ],
    [
      () => config.withAudience("a").anyAudience(),
      "Cannot use anyAudience(): withAudience() names one",
    ],
    [
      () => config.anyAudience().withAudience("a"),
      "Cannot use withAudience(): anyAudience() accepts every audience",
    ],
    [
      () => config.noAudience().withAudience("a"),
      "Cannot use withAudience(): noAudience() accepts none",
    ],
    [
      () => config.noAudience().anyAudience(),
      "Cannot use anyAudience(): noAudience() accepts none",
    ],
    [
      () => config.withAudience("a").noAudience(),
      "Cannot use noAudience(): withAudience() names one",
    ],
    [
      () => config.anyAudience().noAudience(),
      "Cannot use noAudience(): anyAudience() accepts every audience",
    ],
  ];
  for (const [contradict, message] of contradictions) {
    assert.throws(contradict, { code: "InvalidConfig", message });
  }
});

test("ValidationConfig copies its list of algorithms", () => {
  const list: SigningAlgorithm[] = ["ES256"];
  const config = new ValidationConfig().withAlgorithms(list);
  list.push("RS256");
  assert.throws(() => (config.algorithms as SigningAlgorithm[]).push("RS256"), TypeError);
  assert.deepEqual(config.algorithms, ["ES256"]);
});

test("ValidationConfig accepts every supported algorithm", () => {
  for (const alg of ALGORITHMS) assert.deepEqual(new ValidationConfig(alg).algorithms, [alg]);
  assert.deepEqual(new ValidationConfig().withAlgorithms(ALGORITHMS).algorithms, ALGORITHMS);
});

test("ValidationConfig refuses none, HS* and unknown algorithms at construction", () => {
  const names: unknown[] = [
    "none",
    "None",
    "NONE",
    "",
    "HS256",
    "HS384",
    "HS512",
    "hs256",
    "es256",
  ];
  names.push("ES256 ", " ES256", "EDDSA", "Ed448", "ES256K", "RS1", "RSA-OAEP", "dir", "A128KW");
  names.push("__proto__", "constructor", "toString", "size", null, 1, true, {}, [], ["ES256"]);
  for (const name of names as SigningAlgorithm[]) {
    const attempts = [
      () => new ValidationConfig(name),
      () => new ValidationConfig().withAlgorithms([name]),
      () => new ValidationConfig().withAlgorithms(["ES256", name]),
      () => new ValidationConfig().withAlgorithms([name, "ES256"]),
    ];
    for (const attempt of attempts) {
      assert.throws(attempt, { name: "OAuth2Error", code: "InvalidConfig", httpStatus: 500 });
    }
  }
  assert.throws(() => new ValidationConfig().withAlgorithms([]), { code: "InvalidConfig" });
  assert.throws(() => new ValidationConfig().withAlgorithms([undefined as never]), {
    code: "InvalidConfig",
  });
});

test("ValidationConfig refuses an issuer, audience or type that is empty or not a string", () => {
  for (const value of ["", undefined, null, 0, 1, true, [], ["x"], {}] as string[]) {
    const config = new ValidationConfig();
    assert.throws(() => config.withIssuer(value), { code: "InvalidConfig" });
    assert.throws(() => config.withAudience(value), { code: "InvalidConfig" });
    assert.throws(() => config.withTokenType(value), { code: "InvalidConfig" });
  }
});

test("ValidationConfig.withLeeway() accepts 0 to 300 seconds", () => {
  for (const seconds of [0, 0.5, 1, 60, 299.9, 300]) {
    assert.equal(new ValidationConfig().withLeeway(seconds).leewaySeconds, seconds);
  }
  const wrong = [-1, -0.001, 300.001, 301, NaN, Infinity, -Infinity, "60", null, undefined, {}];
  for (const seconds of wrong as number[]) {
    assert.throws(() => new ValidationConfig().withLeeway(seconds), { code: "InvalidConfig" });
  }
});
