import assert from "node:assert/strict";
import { testOn } from "../support/test.ts";
import { messagesOf } from "./error_messages.ts";

const test = testOn(["deno"], "the compiler does the same on each runtime");

const CLIENT = `
import { createClient } from "../../src/client/mod.ts";
import type { Chats } from "../client/chat.ts";
import type { Kitchen } from "../client/kitchen.ts";
const api = createClient<Kitchen>("http://localhost");
const chats = createClient<Chats>("http://localhost");
const room = () => chats.connect("/v1/chat/:room", { params: { room: "a" } });
const params = { id: 1 };
const file = new File([], "a.txt");
const cat = () => api.get.safe("/v1/cats/:id", { params });
const visits = () => api.post.safe("/v1/cats/:id/visits", { params });
export {};
`;

/** The most characters of a message, and of all that the compiler adds to it. */
const MAX_LENGTH = 400;

/** A wrong use, which is one error: what an editor underlines, and a part of the message. */
type Mistake = readonly [mistake: string, token: string, part: string];

const PATHS: readonly Mistake[] = [
  [`await api.get("/v1/dogs");`, `"/v1/dogs"`, `'"/v1/dogs"' is not assignable to parameter`],
  [`await api.get("/v9/cats");`, `"/v9/cats"`, "is not assignable to parameter of type"],
  [`await api.get("/cats");`, `"/cats"`, "is not assignable to parameter of type"],
  [`await api.get("/v1/cats/7");`, `"/v1/cats/7"`, "is not assignable to parameter of type"],
  [`await api.get("/v1/cats/");`, `"/v1/cats/"`, "is not assignable to parameter of type"],
  [`await api.get("/v1/cats/:id{[0-9]+}");`, `"/v1/cats/:id{[0-9]+}"`, "is not assignable to"],
  [`await api.get("/v1/cats" as string);`, `"/v1/cats" as string`, "'string' is not assignable"],
  [`await api.get(7);`, "7", "Argument of type '7' is not assignable to parameter of type"],
  [`await api.get();`, "get", "Expected at least 1 arguments, but got 0"],
  [`await api.put("/v1/cats");`, `"/v1/cats"`, "is not assignable to"],
  [`await api.put("/v1/cats/:id/name");`, `"/v1/cats/:id/name"`, "is not assignable to"],
  [`await api.trace("/any");`, "trace", "Property 'trace' does not exist on type"],
  [`await api("/");`, "api", "This expression is not callable"],
  [`await api.get.safe("/v1/dogs");`, `"/v1/dogs"`, "is not assignable to parameter of type"],
  [`await api.get.response("/v1/dogs");`, `"/v1/dogs"`, "is not assignable to parameter"],
  [`api.get.events("/v1/dogs");`, `"/v1/dogs"`, "is not assignable to parameter of type"],
];

const SOCKETS: readonly Mistake[] = [
  [`await chats.connect("/v1/cats");`, `"/v1/cats"`, "is not assignable to parameter of type"],
  [`await chats.connect("/v1/chat/plain/all");`, `"/v1/chat/plain/all"`, "to type 'NoMessages'"],
  [`await chats.connect("/v1/chat/:room");`, "connect", "Expected 2 arguments, but got 1"],
  [`await chats.connect("/v1/chat/:room", {});`, "{}", "Property 'params' is missing"],
  [
    `await chats.connect("/v1/chat/:room", { params: { room: "a" }, headers: {} });`,
    "headers",
    "'headers' does not exist in type",
  ],
  [
    `await chats.connect("/v1/chat/:room", { params: { room: "a" }, retry: 1 });`,
    "retry",
    "'retry' does not exist in type",
  ],
  [`(await room()).send("hi");`, `"hi"`, "Argument of type 'string' is not assignable"],
  [`(await room()).send({ text: 1 });`, "text", "Type 'number' is not assignable to type 'string'"],
  [`(await room()).send({ text: "", to: "" });`, "to", "'to' does not exist in type"],
  [`for await (const it of await room()) it.born.getTime();`, "getTime", "does not exist on type"],
  [`for await (const it of await room()) it.nope;`, "nope", "Property 'nope' does not exist on"],
];

const PARAMS: readonly Mistake[] = [
  [`await api.get("/v1/cats/:id");`, "get", "Expected 2 arguments, but got 1"],
  [`await api.get.safe("/v1/cats/:id");`, "safe", "Expected 2 arguments, but got 1"],
  [`await api.get.response("/v1/cats/:id");`, "response", "Expected 2 arguments, but got 1"],
  [`await api.get("/v1/cats/:id", {});`, "{}", "Property 'params' is missing"],
  [`await api.get("/v1/cats/:id", 7);`, "7", "Argument of type 'number' is not assignable"],
  [`await api.get("/v1/cats/:id", { params }, {});`, "{}", "Expected 2 arguments, but got 3"],
  [`await api.get("/v1/cats/:id", { param: params });`, "param", "Did you mean to write 'params'?"],
  [`await api.get("/v1/cats/:id", { params: {} });`, "params", "Property 'id' is missing"],
  [`await api.get("/v1/cats/:id", { params: { id: {} } });`, "id", "'{}' is not assignable"],
  [`await api.get("/v1/cats/:id", { params: { id: null } });`, "id", "'null' is not assignable"],
  [`await api.get("/v1/cats/:id", { params: { id: undefined } });`, "id", "'undefined' is not"],
  [`await api.get("/v1/cats/:id", { params: { id: [1] } });`, "id", "'number[]' is not assignable"],
  [`await api.get("/v1/cats/:id", { params: { id: 1, name: "" } });`, "name", "does not exist"],
  [`await api.get("/v1/cats/:id", { params: { ID: 1 } });`, "ID", "Did you mean to write 'id'?"],
  [`await api.get("/v1/cats/:cat/kittens", { params: { id: 1 } });`, "id", "does not exist in"],
  [`await api.get("/files/*", {});`, "{}", "Property 'params' is missing"],
  [`await api.get("/files/*", { params: { path: "" } });`, "path", "does not exist in type"],
  [`await api.get("/pages/:name?", { params: { nam: "" } });`, "nam", "to write 'name'?"],
  [`await api.get("/v1/cats", { params: { id: 1 } });`, "params", "does not exist in type"],
];

const QUERIES: readonly Mistake[] = [
  [
    `await api.get("/v1/cats", { query: { sort: "up" } });`,
    "sort",
    `Type '"up"' is not assignable`,
  ],
  [`await api.get("/v1/cats", { query: { tag: "a" } });`, "tag", "Type 'string' is not assignable"],
  [`await api.get("/v1/cats", { query: { tag: [{}] } });`, "{}", "Type '{}' is not assignable"],
  [`await api.get("/v1/cats", { query: { take: [1] } });`, "take", "'number[]' is not assignable"],
  [`await api.get("/v1/cats", { query: { take: new Date() } });`, "take", "'Date' is not"],
  [`await api.get("/v1/cats", { query: { nope: 1 } });`, "nope", "'nope' does not exist"],
  [`await api.get("/v1/cats", { query: "take=1" });`, "query", "Type 'string' has no properties"],
  [`await api.get("/", { query: { take: 1 } });`, "query", "'query' does not exist in type"],
  [`await api.get("/secret");`, "get", "Expected 2 arguments, but got 1"],
  [`await api.get("/secret", {});`, "{}", "Property 'headers' is missing"],
  [`await api.get("/secret", { headers: {} });`, "headers", `Property '"x-key"' is missing`],
  [`await api.get("/secret", { headers: { "x-kye": "" } });`, `"x-kye"`, "does not exist in type"],
  [`await api.get("/secret", { headers: { "x-key": {} } });`, `"x-key"`, "'{}' is not assignable"],
  [`await api.get("/", { headers: { "x-any": {} } });`, `"x-any"`, "Type '{}' is not assignable"],
  [`await api.get("/", { headers: new Headers() });`, "headers", "'Headers' is not assignable"],
];

const BODIES: readonly Mistake[] = [
  [`await api.post("/v1/cats");`, "post", "Expected 2 arguments, but got 1"],
  [`await api.post("/v1/cats", {});`, "{}", "Property 'body' is missing"],
  [`await api.post("/v1/cats", { body: "" });`, "body", "Type 'string' is not assignable"],
  [`await api.post("/v1/cats", { body: null });`, "body", "Type 'null' is not assignable"],
  [`await api.post("/v1/cats", { body: { age: 1 } });`, "body", "Property 'name' is missing"],
  [`await api.post("/v1/cats", { body: { name: 1 } });`, "name", "Type 'number' is not assignable"],
  [`await api.post("/v1/cats", { body: { name: "", age: "" } });`, "age", "'string' is not"],
  [`await api.post("/v1/cats", { body: { name: "", agee: 1 } });`, "agee", "to write 'age'?"],
  [`await api.post("/v1/cats", { form: { name: "" } });`, "form", "'form' does not exist in type"],
  [`await api.post("/v1/cats", { body: { name: "" }, form: {} });`, "form", "does not exist in"],
  [`await api.get("/", { body: {} });`, "body", "'body' does not exist in type"],
  [`await api.delete("/v1/cats/:id", { params, body: {} });`, "body", "does not exist in type"],
  [
    `await api.post("/v1/cats/:id/name", { form: { names: [] } });`,
    "{ form: { names: [] } }",
    "Property 'params' is missing",
  ],
  [
    `await api.post("/v1/cats/:id/name", { params, body: { names: [] } });`,
    "body",
    "does not exist",
  ],
  [
    `await api.post("/v1/cats/:id/name", { params, multipart: { names: [] } });`,
    "multipart",
    "does not exist in type",
  ],
  [`await api.post("/v1/cats/:id/name", { params, form: { names: "" } });`, "names", "'string' is"],
  [
    `await api.post("/v1/cats/:id/name", { params, form: { names: [1] } });`,
    "1",
    "'number' is not",
  ],
  [
    `await api.post("/v1/cats/:id/photo", { params, multipart: {} });`,
    "multipart",
    "the following",
  ],
  [
    `await api.post("/v1/cats/:id/photo", { params, form: { file, note: "" } });`,
    "form",
    "not exist",
  ],
  [
    `await api.post("/v1/cats/:id/photo", { params, multipart: { file: "a", note: "" } });`,
    "file",
    "Type 'string' is not assignable to type 'File'",
  ],
];

const OPTIONS: readonly Mistake[] = [
  [`await api.get("/", { timeout: 5 });`, "timeout", "Did you mean to write 'timeoutMs'?"],
  [`await api.get("/", { timeoutMs: "5" });`, "timeoutMs", "Type 'string' is not assignable"],
  [`await api.get("/", { retry: true });`, "retry", "Type 'boolean' is not assignable"],
  [`await api.get("/", { signal: new AbortController() });`, "signal", "the following properties"],
  [`createClient<Kitchen>();`, "createClient", "Expected 1-2 arguments, but got 0"],
  [`createClient<string>("");`, "string", "Type 'string' does not satisfy the constraint"],
  [`createClient<Kitchen>("", { header: {} });`, "header", "Did you mean to write 'headers'?"],
  [`createClient<Kitchen>("", { timeout: 1 });`, "timeout", "Did you mean to write 'timeoutMs'?"],
  [`createClient<Kitchen>("", { headers: () => 1 });`, "headers", "'() => number' is not"],
  [`createClient<Kitchen>("", { fetch: () => "" });`, "fetch", "'() => string' is not assignable"],
  [`createClient<Kitchen>("", { interceptors: [(it) => it] });`, "it", "Type 'Request' is missing"],
  [`createClient<Kitchen>("", { redirect: "never" });`, "redirect", `Type '"never"' is not`],
];

const DATA: readonly Mistake[] = [
  [`(await api.get("/v1/cats/:id", { params })).nope;`, "nope", "Property 'nope' does not exist"],
  [`(await api.get("/v1/cats/:id", { params })).born.getTime();`, "getTime", "on type 'string'"],
  [`api.get("/v1/cats/:id", { params }).name;`, "name", "does not exist on type 'Promise<{ id: "],
  [`(await api.get("/pages/:name?")).name;`, `(await api.get("/pages/:name?"))`, "type 'unknown'"],
  [
    `(await api.post("/v1/cats/:id/visits", { params })).job;`,
    "job",
    "does not exist on type '{ v",
  ],
  [
    `(await api.delete("/v1/cats/:id", { params })).id;`,
    `(await api.delete("/v1/cats/:id", { params }))`,
    "Object is possibly 'undefined'",
  ],
  [`(await cat()).name;`, "name", "Property 'name' does not exist on type 'Success<200, { id: "],
  [`(await cat()).data.name;`, "(await cat()).data", "Object is possibly 'undefined'"],
  [`(await cat()).problem.status;`, "(await cat()).problem", "Object is possibly 'undefined'"],
  [`(await cat()).problem?.since;`, "since", "Property 'since' does not exist on type"],
  [`const a = await cat(); if (!a.problem) a.data.nope;`, "nope", "does not exist on type '{ id: "],
  [
    `const b = await cat(); if (b.problem?.status === 409) b.problem.since;`,
    "since",
    "Property 'since' does not exist on type 'ProblemWith<409>'",
  ],
  [
    `const c = await cat(); void (c.problem?.status === 200);`,
    "c.problem?.status === 200",
    "This comparison appears to be unintentional",
  ],
  [
    `const d = await cat(); if (d.problem?.status === 404) d.problem.errors.length;`,
    "d.problem.errors",
    "'d.problem.errors' is possibly 'undefined'",
  ],
  [
    `const e = await cat(); if (e.problem?.status === 422) e.problem.errors[0]?.nope;`,
    "nope",
    "Property 'nope' does not exist on type 'ValidationIssue'",
  ],
  [
    `const f = await visits(); if (f.status === 202) f.data.visits;`,
    "visits",
    "type '{ job: string",
  ],
  [
    `const g = await visits(); void (g.status === 201);`,
    "g.status === 201",
    "This comparison appears to be unintentional",
  ],
];

const STREAMS: readonly Mistake[] = [
  [`(await api.get.response("/bytes")).data;`, "data", "does not exist on type 'Response'"],
  [`api.get.response("/bytes").arrayBuffer();`, "arrayBuffer", "on type 'Promise<Response>'"],
  [`(await api.get.response("/v1/cats/:id", { params })).name;`, "name", "on type 'Response'"],
  [
    `for await (const it of await api.get.response("/ticks")) void it;`,
    `await api.get.response("/ticks")`,
    "Type 'Response' must have a '[Symbol.asyncIterator]()' method",
  ],
  [`for await (const it of api.get("/ticks")) void it;`, `api.get("/ticks")`, "asyncIterator"],
  [
    `for (const it of api.get.events("/ticks")) void it;`,
    `api.get.events("/ticks")`,
    "must have a '[Symbol.iterator]()' method",
  ],
  [
    `for await (const { json } of api.get.events("/ticks")) json().nope;`,
    "nope",
    "{ count: number",
  ],
  [
    `for await (const { count } of api.get.events("/ticks")) void count;`,
    "count",
    "does not exist",
  ],
  [`api.get.events("/ticks").next();`, "next", "Property 'next' does not exist"],
  [`api.get.events("/v1/cats/:id");`, "events", "Expected 2 arguments, but got 1"],
  [`api.get.events("/v1/cats/:id", { params });`, `"/v1/cats/:id"`, "NoEvents"],
  [`api.delete.events("/v1/cats/:id", { params });`, `"/v1/cats/:id"`, "NoEvents"],
];

const MISTAKES = [PATHS, SOCKETS, PARAMS, QUERIES, BODIES, OPTIONS, DATA, STREAMS].flat();

test("each wrong use of the client is one error at the wrong part, with a short message", () => {
  const found = messagesOf(CLIENT, MISTAKES.map(([mistake]) => mistake));
  const wrong = found.flatMap(({ token, text, related }, i) => {
    const [mistake, expected, part] = MISTAKES[i]!;
    const { length } = [text, ...related].join("\n");
    const isRight = token === expected && text.includes(part) && length <= MAX_LENGTH;
    return isRight ? [] : [{ mistake, token, length, text }];
  });
  assert.deepEqual(wrong, []);
}, { slow: true });
