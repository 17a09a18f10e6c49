import assert from "node:assert/strict";
import { testOn } from "../support/test.ts";
import { messagesOf } from "./error_messages.ts";

const test = testOn(["deno"], "the compiler does the same on each runtime");

const CLIENT = `
import { createClient } from "../../src/client/mod.ts";
import type { Kitchen } from "../client/kitchen.ts";
const api = createClient<Kitchen>("http://localhost");
const params = { id: 1 };
export {};
`;

/** The most characters of a message, and of all that the compiler adds to it. */
const MAX_LENGTH = 400;

/** Each is one error; the second is a part of its message. */
const MISTAKES: readonly (readonly [mistake: string, part: string])[] = [
  [`await api.get("/v1/dogs");`, `'"/v1/dogs"' is not assignable to parameter of type '"/`],
  [`await api.put("/v1/cats");`, `'"/v1/cats"' is not assignable`],
  [`await api.get("/v1/cats/:id");`, "Expected 2 arguments, but got 1"],
  [`await api.get("/v1/cats/:id", {});`, "Property 'params' is missing"],
  [`await api.get("/v1/cats/:id", { params: {} });`, "Property 'id' is missing"],
  [`await api.get("/v1/cats/:id", { params: { id: {} } });`, "Type '{}' is not assignable"],
  [`await api.get("/v1/cats/:id", { params: { id: 1, name: "" } });`, "'name' does not exist"],
  [`await api.get("/v1/cats", { query: { sort: "up" } });`, `Type '"up"' is not assignable`],
  [`await api.get("/v1/cats", { query: { tag: "a" } });`, "Type 'string' is not assignable"],
  [`await api.get("/v1/cats", { query: { nope: 1 } });`, "'nope' does not exist"],
  [`await api.get("/secret", {});`, "Property 'headers' is missing"],
  [`await api.get("/secret", { headers: {} });`, `Property '"x-key"' is missing`],
  [`await api.post("/v1/cats");`, "Expected 2 arguments, but got 1"],
  [`await api.post("/v1/cats", {});`, "Property 'body' is missing"],
  [`await api.post("/v1/cats", { body: { age: 1 } });`, "Property 'name' is missing"],
  [`await api.post("/v1/cats", { body: { name: 1 } });`, "Type 'number' is not assignable"],
  [`await api.post("/v1/cats", { body: { name: "", agee: 1 } });`, "'agee' does not exist"],
  [
    `await api.post("/v1/cats/:id/name", { params, body: { names: [] } });`,
    "'body' does not exist",
  ],
  [`await api.post("/v1/cats/:id/photo", { params, multipart: {} });`, "missing the following"],
  [`(await api.get("/v1/cats/:id", { params })).nope;`, "Property 'nope' does not exist"],
  [`(await api.get("/v1/cats/:id", { params })).born.getTime();`, "Property 'getTime' does not"],
  [
    `(await api.get.safe("/v1/cats/:id", { params })).problem?.since;`,
    "Property 'since' does not exist",
  ],
  [`(await api.get.safe("/v1/cats/:id", { params })).data.name;`, "possibly 'undefined'"],
];

test("each wrong use of the client is one error, with a short message", () => {
  const found = messagesOf(CLIENT, MISTAKES.map(([mistake]) => mistake));
  const wrong = found.flatMap(({ text, related }, i) => {
    const [mistake, part] = MISTAKES[i]!;
    const { length } = [text, ...related].join("\n");
    return text.includes(part) && length <= MAX_LENGTH ? [] : [{ mistake, length, text }];
  });
  assert.deepEqual(wrong, []);
});
