import assert from "node:assert/strict";
import { identityOf } from "../../../src/oauth2/identity.ts";
import { ValidationConfig } from "../../../src/oauth2/resource_server/validation_config.ts";
import { test } from "../../support/test.ts";
import { JwksServer } from "./jwks_server.ts";
import { assertOutcomes, type Case, outcomeOf } from "./outcome.ts";
import { accepting, verifierOf } from "./resource_server.ts";
import { AUDIENCE, CLAIMS, ISSUER, NOW, SigningKey } from "./signing_key.ts";

const key = await SigningKey.generate("ES256");

/** Returns other values than the expected one of a claim. */
function oddities(claim: string, good: unknown): readonly (readonly [string, string])[] {
  const json = JSON.stringify(good);
  const values = ["null", "true", "false", "{}", "[]", `[${json}]`, `{"0":${json}}`, '""', '" "'];
  return values.map((value) => [`${claim} is ${value}`, value]);
}

/** Signs a good token whose claim is written as it is given: JSON has numbers that no number is. */
function tokenWith(claim: string, json: string): Promise<string> {
  const { [claim]: _, ...others } = CLAIMS as Record<string, unknown>;
  const text = JSON.stringify(others).replace(/}$/, `,${JSON.stringify(claim)}:${json}}`);
  return key.forgeWith({}, text);
}

function without(claim: string): Promise<string> {
  return key.token({ [claim]: undefined });
}

test("JwtVerifier.verify() requires a finite exp that is a number", async () => {
  await using server = await JwksServer.start(key.jwk);
  const refused = ["1e999", "-1e999", `-${NOW + 600}`, "-1", "-0", "0", "1e-999", "1", "0.5"];
  refused.push(
    `"${NOW + 600}"`,
    '"2100-01-01T00:00:00Z"',
    '"Infinity"',
    '"NaN"',
    '"never"',
    '"1e9"',
  );
  refused.push(`"0x${(NOW + 600).toString(16)}"`);
  const accepted = [`${NOW + 600}`, `${NOW + 600}.5`, `${NOW + 600}e0`, "1e10", "1E+300", "1.8e9"];
  await assertOutcomes(verifierOf(server), [
    ["exp is missing", without("exp"), "InvalidClaim exp"],
    ["exp is in capitals", tokenWithout("exp", "EXP"), "InvalidClaim exp"],
    ...oddities("exp", NOW + 600).map(([name, json]): Case => [
      name,
      tokenWith("exp", json),
      "InvalidClaim exp",
    ]),
    ...refused.map((json): Case => [`exp is ${json}`, tokenWith("exp", json), "InvalidClaim exp"]),
    ...accepted.map((json): Case => [`exp is ${json}`, tokenWith("exp", json), "accepted"]),
  ]);
});

/** Signs a token that has a claim under another name only. */
function tokenWithout(claim: "exp" | "iss" | "aud", otherName: string): Promise<string> {
  return key.token({ [claim]: undefined, [otherName]: CLAIMS[claim] });
}

test("JwtVerifier.verify() requires that nbf is a finite number, if there is one", async () => {
  await using server = await JwksServer.start(key.jwk);
  const refused = ["1e999", "-1e999", "-1", `"${NOW}"`, '"0"', '"NaN"', `${NOW + 600}`, "1e300"];
  const accepted = ["0", "-0", "1", "0.5", `${NOW}`, `${NOW}.5`, "1e-999"];
  await assertOutcomes(verifierOf(server), [
    ["nbf is missing", key.token(), "accepted"],
    ...oddities("nbf", NOW).map(([name, json]): Case => [
      name,
      tokenWith("nbf", json),
      "InvalidClaim nbf",
    ]),
    ...refused.map((json): Case => [`nbf is ${json}`, tokenWith("nbf", json), "InvalidClaim nbf"]),
    ...accepted.map((json): Case => [`nbf is ${json}`, tokenWith("nbf", json), "accepted"]),
  ]);
});

test("JwtVerifier.verify() requires that iat is a finite number, if there is one", async () => {
  await using server = await JwksServer.start(key.jwk);
  await assertOutcomes(verifierOf(server), [
    ["iat is missing", key.token({ iat: undefined }), "accepted"],
    ...oddities("iat", NOW).map(([name, json]): Case => [
      name,
      tokenWith("iat", json),
      "InvalidClaim iat",
    ]),
    ...["0", `${NOW}`, `${NOW + 600}`, "0.5"].map((json): Case => [
      `iat is ${json}`,
      tokenWith("iat", json),
      "accepted",
    ]),
  ]);
});

for (const leeway of [undefined, 0, 1, 30, 300]) {
  const seconds = leeway ?? 60;
  test(`JwtVerifier.verify() checks exp and nbf to the second with ${leeway ?? "default"} leeway`, async () => {
    await using server = await JwksServer.start(key.jwk);
    const config = leeway === undefined
      ? accepting("ES256")
      : accepting("ES256").withLeeway(leeway);
    const exp = (offset: number, expected: string): Case => [
      `exp is now ${offset - seconds} and ${seconds}`,
      key.token({ exp: NOW - seconds + offset }),
      expected,
    ];
    const nbf = (offset: number, expected: string): Case => [
      `nbf is now ${offset + seconds} less ${seconds}`,
      key.token({ nbf: NOW + seconds + offset }),
      expected,
    ];
    await assertOutcomes(verifierOf(server, config), [
      exp(-1, "InvalidClaim exp"),
      exp(0, "InvalidClaim exp"), // RFC 7519 §4.1.4: on or after
      exp(0.001, "accepted"),
      exp(1, "accepted"),
      nbf(-1, "accepted"),
      nbf(0, "accepted"), // RFC 7519 §4.1.5: before
      nbf(0.001, "InvalidClaim nbf"),
      nbf(1, "InvalidClaim nbf"),
    ]);
  });
}

test("JwtVerifier.verify() reads its clock, in milliseconds, for each token", async () => {
  await using server = await JwksServer.start(key.jwk);
  let nowMs = NOW * 1000;
  const verifier = verifierOf(server, accepting("ES256").withLeeway(0), { now: () => nowMs });
  const token = await key.token({ exp: NOW + 1, nbf: NOW });
  const outcomes = [];
  for (const offset of [-1, 0, 999, 1_000]) {
    nowMs = NOW * 1000 + offset;
    outcomes.push(await outcomeOf(verifier.verify(token)));
  }
  assert.deepEqual(outcomes, ["InvalidClaim nbf", "accepted", "accepted", "InvalidClaim exp"]);
});

test("JwtVerifier.verify() accepts exactly the expected iss", async () => {
  await using server = await JwksServer.start(key.jwk);
  const others = [`${ISSUER}/`, ` ${ISSUER}`, `${ISSUER} `, `${ISSUER}\n`, `${ISSUER}\0`];
  others.push(ISSUER.toUpperCase(), "https://ID.example.com", "HTTPS://id.example.com");
  others.push(ISSUER.slice(0, -1), `${ISSUER}.evil.example`, `${ISSUER}@evil.example`, "https://");
  others.push("http://id.example.com", "id.example.com", "https://id.example.com:443", "*", ".*");
  others.push("https://id.example.com?", "https://id.example.com#", "https://íd.example.com");
  others.push("https://id.example.com%00", "https://id．example.com", "https://evil.example");
  const cases = [
    ["iss is missing", without("iss"), "InvalidClaim iss"] as const,
    ["iss is in capitals", tokenWithout("iss", "ISS"), "InvalidClaim iss"] as const,
    ["iss is a number", tokenWith("iss", "1"), "InvalidClaim iss"] as const,
    ["iss is a list of two", key.token({ iss: [ISSUER, "x"] }), "InvalidClaim iss"] as const,
    ...oddities("iss", ISSUER).map(([name, json]): Case => [
      name,
      tokenWith("iss", json),
      "InvalidClaim iss",
    ]),
    ...others.map((iss): Case => [JSON.stringify(iss), key.token({ iss }), "InvalidClaim iss"]),
  ];
  await assertOutcomes(verifierOf(server), [...cases, ["the same", key.token(), "accepted"]]);
  await assertOutcomes(
    verifierOf(server, new ValidationConfig("ES256")),
    cases.map(([name, token]): Case => [`${name}, any accepted`, token, "accepted"]),
  );
});

test("JwtVerifier.verify() accepts exactly the expected aud, or a list of strings with it", async () => {
  await using server = await JwksServer.start(key.jwk);
  const others = [`${AUDIENCE}/`, ` ${AUDIENCE}`, `${AUDIENCE} `, `${AUDIENCE}\n`, `${AUDIENCE}\0`];
  others.push(AUDIENCE.toUpperCase(), "https://API.example.com", AUDIENCE.slice(0, -1), "https://");
  others.push(`${AUDIENCE}.evil.example`, `${AUDIENCE},x`, `${AUDIENCE} x`, `x ${AUDIENCE}`, "*");
  others.push(ISSUER, "api.example.com", "http://api.example.com");
  const refusedLists: unknown[] = [[], [""], ["x"], [null], [[AUDIENCE]], [{ 0: AUDIENCE }]];
  refusedLists.push([AUDIENCE, 1], [AUDIENCE, null], [AUDIENCE, [AUDIENCE]], [AUDIENCE, {}]);
  refusedLists.push([true, AUDIENCE], [`${AUDIENCE}/`], others, [AUDIENCE.toUpperCase()]);
  const acceptedLists = [[AUDIENCE], [AUDIENCE, AUDIENCE], ["x", AUDIENCE], [AUDIENCE, "x"]];
  acceptedLists.push([...others, AUDIENCE], ["", AUDIENCE], [...Array(200).fill("x"), AUDIENCE]);
  const values = ["null", "true", "1", "{}", `{"0":"${AUDIENCE}"}`, '""', '" "', '{"length":1}'];
  const cases: Case[] = [
    ["aud is missing", without("aud"), "InvalidClaim aud"],
    ["aud is in capitals", tokenWithout("aud", "AUD"), "InvalidClaim aud"],
    ...values.map((json): Case => [`aud is ${json}`, tokenWith("aud", json), "InvalidClaim aud"]),
    ...others.map((aud): Case => [JSON.stringify(aud), key.token({ aud }), "InvalidClaim aud"]),
    ...refusedLists.map((
      aud,
    ): Case => [JSON.stringify(aud), key.token({ aud }), "InvalidClaim aud"]),
    ...acceptedLists.map((aud): Case => [JSON.stringify(aud), key.token({ aud }), "accepted"]),
    ["the same", key.token(), "accepted"],
  ];
  await assertOutcomes(verifierOf(server), cases);
  await assertOutcomes(
    verifierOf(server, new ValidationConfig("ES256")),
    cases.map(([name, token]): Case => [`${name}, any accepted`, token, "accepted"]),
  );
});

test("JwtVerifier.verify() checks a claim only of a token whose signature is right", async () => {
  await using server = await JwksServer.start(key.jwk);
  const forged = async (claims: Record<string, unknown>) =>
    `${(await key.token(claims)).slice(0, -86)}${"A".repeat(86)}`;
  await assertOutcomes(verifierOf(server), [
    ["over", forged({ exp: 1 }), "InvalidSignature"],
    ["of another issuer", forged({ iss: "x" }), "InvalidSignature"],
    ["for another", forged({ aud: "x" }), "InvalidSignature"],
  ]);
});

test("identityOf() accepts only a sub that is a string and not empty", async () => {
  await using server = await JwksServer.start(key.jwk);
  const verifier = verifierOf(server);
  const values: readonly (readonly [unknown, string])[] = [
    ["ada", "ada"],
    [" ", " "],
    ["0", "0"],
    ["null", "null"],
    ["é\u0000🔑", "é\u0000🔑"],
    ["x".repeat(300), "x".repeat(300)],
    ...[undefined, null, "", 0, 1, 1e21, true, false, [], ["ada"], {}, { 0: "ada" }].map(
      (sub) => [sub, "InvalidClaim sub"] as const,
    ),
  ];
  for (const [sub, expected] of values) {
    const { claims } = await verifier.verify(await key.token({ sub }));
    const outcome = await outcomeOf((async () => await identityOf(claims))());
    assert.equal(outcome === "accepted" ? identityOf(claims).subject : outcome, expected);
  }
  const { claims } = await verifier.verify(await key.token());
  assert.deepEqual(identityOf(claims), { subject: "ada", scopes: [], claims: { ...CLAIMS } });
});
