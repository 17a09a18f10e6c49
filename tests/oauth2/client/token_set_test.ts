import assert from "node:assert/strict";
import {
  TokenSet,
  TokenSetDto,
  type TokenSetDtoFields,
} from "../../../src/oauth2/client/token_set.ts";
import { test } from "../../support/test.ts";

const expiresAt = new Date(Date.UTC(2030, 0, 1, 0, 0, 0, 900));
const FIELDS = {
  accessToken: "at-1",
  tokenType: "bearer",
  refreshToken: "rt-1",
  idToken: "id-1",
  scope: "a b",
  expiresAt,
};
const DTO = {
  accessToken: "at-1",
  tokenType: "bearer",
  refreshToken: "rt-1",
  idToken: "id-1",
  scope: "a b",
  expiresAtUnix: Date.UTC(2030, 0, 1) / 1000,
};

function fieldsOf(set: TokenSet): Record<string, unknown> {
  const { accessToken, tokenType, refreshToken, idToken, scope, expiresAt } = set;
  return { accessToken, tokenType, refreshToken, idToken, scope, expiresAt };
}

test("TokenSet has the given values, and its expiry cannot be changed from outside", () => {
  const set = new TokenSet(FIELDS);
  set.expiresAt?.setTime(0);
  assert.deepEqual(fieldsOf(set), FIELDS);
});

test("TokenSet survives toDto(), JSON and fromDto(), with times in seconds", () => {
  const json = JSON.stringify(new TokenSet(FIELDS).toDto());
  assert.deepEqual(JSON.parse(json), DTO);
  const set = TokenSet.fromDto(JSON.parse(json));
  assert.deepEqual(fieldsOf(set), { ...FIELDS, expiresAt: new Date(Date.UTC(2030, 0, 1)) });
  assert.deepEqual(structuredClone({ ...set.toDto() }), DTO);
});

test("TokenSet.toDto() omits missing members from JSON, and fromDto() accepts null for them", () => {
  const least = { accessToken: "at-1", tokenType: "bearer" };
  assert.equal(JSON.stringify(new TokenSet(least).toDto()), JSON.stringify(least));
  const none = { refreshToken: null, idToken: null, scope: null, expiresAtUnix: null };
  const set = TokenSet.fromDto({ ...least, ...none } as unknown as TokenSetDto);
  assert.deepEqual(fieldsOf(set), {
    ...least,
    refreshToken: undefined,
    idToken: undefined,
    scope: undefined,
    expiresAt: undefined,
  });
});

test("TokenSet.fromDto() refuses other values with a TypeError that does not repeat them", () => {
  const cases: readonly (readonly [Record<string, unknown>, string])[] = [
    [{ accessToken: undefined }, "accessToken is not a string or is empty"],
    [{ accessToken: "" }, "accessToken is not a string or is empty"],
    [{ accessToken: 7 }, "accessToken is not a string or is empty"],
    [{ tokenType: undefined }, "tokenType is not a string or is empty"],
    [{ refreshToken: "" }, "refreshToken is not a string or is empty"],
    [{ refreshToken: {} }, "refreshToken is not a string or is empty"],
    [{ idToken: 7 }, "idToken is not a string or is empty"],
    [{ scope: ["a"] }, "scope is not a string"],
    [{ expiresAtUnix: "1893456000" }, "expiresAtUnix is not a time in whole seconds"],
    [{ expiresAtUnix: 1.5 }, "expiresAtUnix is not a time in whole seconds"],
    [{ expiresAtUnix: NaN }, "expiresAtUnix is not a time in whole seconds"],
    [{ expiresAtUnix: Infinity }, "expiresAtUnix is not a time in whole seconds"],
    [{ expiresAtUnix: 8.64e12 + 1 }, "expiresAtUnix is not a time in whole seconds"],
    [{ expiresAtUnix: expiresAt }, "expiresAtUnix is not a time in whole seconds"],
  ];
  for (const [wrong, why] of cases) {
    const dto = { ...DTO, ...wrong } as TokenSetDtoFields;
    assert.throws(() => TokenSet.fromDto(dto), {
      name: "TypeError",
      message: `Cannot read token set: ${why}`,
    });
  }
});

test("TokenSet accepts an empty scope", () => {
  const set = TokenSet.fromDto({ ...DTO, scope: "" });
  assert.equal(set.scope, "");
});

test("TokenSet refuses the conversion to JSON, alone or within another value", () => {
  const set = new TokenSet(FIELDS);
  for (const value of [set, [set], { user: { tokens: set } }]) {
    assert.throws(() => JSON.stringify(value), {
      name: "TypeError",
      message: "Cannot convert TokenSet to JSON: its tokens are secret, call toDto()",
    });
  }
});

test("TokenSet and TokenSetDto print only members that are not secret", () => {
  const set = new TokenSet(FIELDS);
  assert.equal(
    String(set),
    "TokenSet { accessToken: <redacted>, tokenType: bearer, refreshToken: <redacted>, " +
      "idToken: <redacted>, scope: a b, expiresAt: 2030-01-01T00:00:00.900Z }",
  );
  assert.equal(
    String(set.toDto()),
    "TokenSetDto { accessToken: <redacted>, tokenType: bearer, refreshToken: <redacted>, " +
      "idToken: <redacted>, scope: a b, expiresAtUnix: 1893456000 }",
  );
  assert.equal(
    String(new TokenSetDto({ accessToken: "at-1", tokenType: "bearer" })),
    "TokenSetDto { accessToken: <redacted>, tokenType: bearer }",
  );
});
