/**
 * Random parts of requests that documents do not describe.
 *
 * @module
 */
import fc from "fast-check";
import type { Alteration, Draft } from "./planned_request.ts";
import type { DescribedOperation } from "./served_document.ts";

/** The ways in which a request is undecided by the document. */
export function odditiesOf(
  { parameters, body, method }: DescribedOperation,
): fc.Arbitrary<Alteration>[] {
  const inPath = parameters.filter((parameter) => parameter.in === "path");
  const inQuery = parameters.filter((parameter) => parameter.in === "query");
  const odd = <T>(
    what: string,
    values: fc.Arbitrary<T>,
    alter: (draft: Draft, value: T) => Draft,
  ) =>
    values.map((value): Alteration => ({
      what: `${what} ${JSON.stringify(value)}`,
      alter: (draft) => alter(draft, value),
    }));
  return [
    odd("query", fc.constantFrom(...QUERIES), (draft, rawQuery) => ({ ...draft, rawQuery })),
    odd("headers", fc.constantFrom(...HEADERS), (draft, headers) => ({
      ...draft,
      headers: { ...draft.headers, ...headers },
    })),
    ...inPath.map(({ name }) =>
      odd(`path parameter ${name}`, fc.constantFrom(...SEGMENTS), (draft, text) => ({
        ...draft,
        raw: { ...draft.raw, [name]: text },
      }))
    ),
    ...inQuery.map(({ name }) =>
      odd(`repeated query parameter ${name}`, fc.constantFrom("", "1", "a"), (draft, text) => ({
        ...draft,
        query: [...draft.query, [name, text], [name, text]],
      }))
    ),
    ...body || ["GET", "HEAD"].includes(method) ? [] : [
      odd("body", fc.constantFrom("{}", "x"), (draft, content) => ({
        ...draft,
        body: { type: "application/json", content },
      })),
    ],
    ...body
      ? [odd("body", fc.constantFrom(...BODIES), (draft, [type, content]) => ({
        ...draft,
        body: { type, content },
      }))]
      : [],
  ];
}

const QUERIES = [
  "a=1",
  "%zz=%zz",
  "&&",
  "=",
  "a=1&a=2",
  "__proto__=1",
  "%00=%00",
  "%ff",
  "a[b]=1",
  "+",
];

const HEADERS: readonly Readonly<Record<string, string>>[] = [
  { accept: "text/html" },
  { accept: "application/xml;q=0.1, */*;q=0" },
  { "content-encoding": "gzip" },
  { "x-request-id": "x".repeat(300) },
  { "if-none-match": "*" },
  { range: "bytes=0-1" },
  { origin: "null" },
  { "x-forwarded-for": "nobody, 999.1.1.1" },
  { traceparent: "00-zz" },
];

const SEGMENTS = [
  ...["", "%", "%zz", "%C0%AF", "%ff", "%2F", "a%2Fb", "%252F", "%2e%2e%2f", "+5", "007", "1e3"],
  ...["-0", "1.0", ":id", "*", "a|b", "^", "[1]", "a;b=c", "~", "%F0%9F%92%A5", "9".repeat(400)],
];

const BODIES: readonly (readonly [type: string, content: string])[] = [
  ["application/merge-patch+json", "{}"],
  ["APPLICATION/JSON", "{}"],
  ["application/json;charset=UTF-8;x=1", "{}"],
  ["application/json", "\ufeff{}"],
  ["application/json", '{"name":"a","name":"b","email":"a@b.cd","email":"c@d.ef"}'],
  ["application/json", '{"name":"\\ud800 alone","email":"a@b.cd"}'],
  ["application/json", '{"__proto__":{"name":"Tom"}}'],
  ["application/json", "1e400"],
  ["application/json", '{"id":1e400,"name":-0}'],
  ["application/json", '{"a":{"a":{"a":{"a":{"a":{"a":{"a":{}}}}}}}}'],
  ["application/json", `[${"0,".repeat(2000)}0]`],
];
