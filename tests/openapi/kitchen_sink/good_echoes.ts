/**
 * Requests to the routes of the kitchen sink that return their body.
 *
 * @module
 */
import type { GoodRequest } from "./good_request.ts";

const TEXTS = {
  email: "tom@example.com",
  url: "https://example.com/",
  uuid: "123e4567-e89b-42d3-a456-426614174000",
  ipv4: "127.0.0.1",
  pattern: "AB-12",
};
const VALUES = {
  truth: true,
  nothing: null,
  nullable: null,
  one: 1,
  colour: "red",
  union: 4,
  pair: ["a", 1],
  row: ["a", true, false],
  counts: { a: 1, b: 2 },
  anything: { at: ["all"] },
};
const CIRCLE = { kind: "circle", radius: 1.5 };
const SQUARE = { kind: "square", side: 2 };
const TREE = { value: 1, left: { value: 2, right: { value: 3 } } };
const FOLDER = {
  name: "a",
  entries: [{ to: "b", folder: { name: "c", entries: [] } }, { name: "d", entries: [] }],
};
const DATE = "2024-02-29T12:00:00.000Z";

/** Lists the requests to the routes that return their body, by library. */
export function goodEchoes(): readonly GoodRequest[] {
  const echoOf = (library: string): Echo => (name, value, answer = value) => ({
    operationId: `${library}Module.${library}Controller.${name}`,
    path: `/api/v1/schemas/${library.toLowerCase()}/${name}`,
    init: { json: value },
    answer,
  });
  return [
    ...ofValibot(echoOf("Valibot")),
    ...ofZod(echoOf("Zod")),
    ...ofArktype(echoOf("Arktype")),
  ];
}

type Echo = (name: string, value: unknown, answer?: unknown) => GoodRequest;

function ofValibot(echo: Echo): readonly GoodRequest[] {
  const formats = {
    ...TEXTS,
    ipv6: "::1",
    date: "2024-02-29",
    timestamp: DATE,
    anyCase: "aB",
    base64: "aGVsbG8=",
  };
  const numbers = { any: 1.5, whole: 2, safe: 3, from: 4, between: 0.5, dozens: 24 };
  const kinds = {
    ...VALUES,
    text: "text",
    exact: "abc",
    nullish: null,
    enumerated: "green",
    both: { left: "l", right: "r" },
    list: ["a"],
    loose: { known: "a", unknown: 1 },
    others: { known: "a", other: 1 },
    branded: "Tom",
    frozen: { still: 1 },
    inner: { formats, numbers },
  };
  const changing = { trimmed: " A ", date: DATE, length: "four" };
  return [
    echo("formats", formats),
    echo("numbers", numbers),
    echo("kinds", kinds),
    echo("shapes", [CIRCLE, SQUARE]),
    echo("folder", FOLDER),
    echo("tree", TREE),
    echo("changing", changing, {
      trimmed: "a",
      date: DATE,
      length: 4,
      inner: [{ kind: "circle", radius: 42 }],
    }),
  ];
}

function ofZod(echo: Echo): readonly GoodRequest[] {
  const address = { street: "Main Street", city: "Berlin" };
  const ada = { name: "Ada", address, pet: { kind: "dog", tricks: ["sit"] }, friends: [] };
  const picture = new FormData();
  picture.append("title", "Me");
  picture.append("picture", new File(["12345"], "me.png", { type: "image/png" }));
  return [
    echo("person", { ...ada, former: [address], pet: null, friends: [ada] }),
    echo("kinds", {
      ...TEXTS,
      ...VALUES,
      date: "2024-02-29",
      time: DATE,
      start: "abc",
      whole: 1,
      positive: 0.5,
      dozens: 12,
      some: "b",
      both: { left: "l", right: "r" },
      byColour: { red: 1, green: 2 },
      strict: { known: "a" },
      loose: { known: "a", unknown: 1 },
      others: { known: "a", other: "b" },
      branded: "Tom",
      frozen: [1],
      template: "v3",
    }),
    echo(
      "changing",
      { trimmed: " A ", coerced: 3, length: "four", piped: "12", codec: DATE },
      { defaulted: "none", coerced: 3, codec: DATE, json: { trimmed: "a", length: 4, piped: 12 } },
    ),
    {
      operationId: "ZodModule.ZodController.addresses",
      path: `/api/v1/schemas/zod/addresses/Berlin?take=3&exact=true`,
      answer: [{ street: "asc 3", city: "Berlin" }],
    },
    {
      operationId: "ZodModule.ZodController.picture",
      path: `/api/v1/schemas/zod/picture`,
      init: { method: "POST", body: picture },
      answer: { size: 5 },
    },
  ];
}

function ofArktype(echo: Echo): readonly GoodRequest[] {
  return [
    echo("comment", { text: "Hello", replies: [{ text: "Hi", replies: [] }] }),
    echo("kinds", {
      ...TEXTS,
      ...VALUES,
      text: "text",
      whole: 1,
      from: 4,
      between: 0.5,
      dozens: 24,
      list: ["a"],
      inner: { deep: { deeper: "deepest" } },
    }),
    echo(
      "changing",
      { parsed: "12", date: DATE, trimmed: " a " },
      { defaulted: "none", parsed: 12, date: DATE, trimmed: "a" },
    ),
    {
      operationId: "ArktypeModule.ArktypeController.numbers",
      path: `/api/v1/schemas/arktype/numbers/1?to=2.5`,
      answer: [1, 2.5],
    },
  ];
}
