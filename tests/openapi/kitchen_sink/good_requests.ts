/**
 * A request to each operation of the kitchen sink, with the expected response.
 *
 * @module
 */
import { goodEchoes } from "./good_echoes.ts";
import type { GoodRequest } from "./good_request.ts";

const ID = "123e4567-e89b-42d3-a456-426614174000";
const V1 = "/api/v1";
const V2 = "/api/v2";

/** Lists the requests; headers identify a caller with a token. */
export function goodRequests(token: string): readonly GoodRequest[] {
  const headers = { authorization: `Bearer ${token}` };
  return [
    ...ofProducts(),
    ...ofAccounts(headers),
    ...ofParameters(),
    ...ofBodies(),
    ...ofStatuses(),
    ...ofMethods(),
    ...ofProtections(headers),
    ...goodEchoes(),
  ];
}

const TOM = {
  id: ID,
  name: "Tom's hat",
  price: 1999,
  since: "2024-02-29T12:00:00.000Z",
  category: { name: "Hats", parts: [{ name: "Caps", parts: [] }] },
};

function ofProducts(): readonly GoodRequest[] {
  const of = (name: string) => `ShopModule.ProductsController.${name}`;
  const path = `${V2}/tom/products`;
  const stored = { ...TOM, stock: 1 };
  const range = { best: TOM, others: [{ ...TOM, stock: 3 }] };
  const deep = { name: "Level 1", parts: [{ name: "Level 0", parts: [] }] };
  return [
    {
      operationId: of("listOnSale"),
      path: `${path}?search=hat&cheaper_than=9`,
      init: { headers: { "x-client": "test" } },
      answer: {
        query: { take: 20, sort: "name", search: "hat", cheaper_than: 9 },
        currency: "EUR",
      },
    },
    { operationId: of("create_one"), path, init: { json: TOM }, status: 201, answer: stored },
    { operationId: of("findByID"), path: `${path}/${ID}`, answer: stored },
    {
      operationId: "compare",
      path: `${path}/range`,
      init: { method: "PUT", json: range },
      answer: { best: stored, others: [{ ...TOM, stock: 3 }] },
    },
    { operationId: of("category"), path: `${path}/categories/1`, answer: deep },
  ];
}

function ofAccounts(headers: HeadersInit): readonly GoodRequest[] {
  const of = (name: string) => `ShopModule.AccountController.${name}`;
  const path = `${V1}/account`;
  const nobody = { subject: null };
  const tom = { subject: "tom" };
  return [
    { operationId: of("open"), path: `${path}/open`, answer: nobody },
    {
      operationId: of("guarded"),
      path: `${path}/guarded`,
      init: { headers: { "x-caller": "tom" } },
      answer: tom,
    },
    {
      operationId: of("behindGuard"),
      path: `${path}/behind-guard`,
      init: { headers },
      answer: nobody,
    },
    { operationId: of("principal"), path: `${path}/principal`, init: { headers }, answer: tom },
    { operationId: of("anybody"), path: `${path}/anybody`, answer: nobody },
    { operationId: of("anybody"), path: `${path}/anybody`, init: { headers }, answer: tom },
    { operationId: of("staff"), path: `${path}/staff`, init: { headers }, answer: nobody },
    { operationId: of("orders"), path: `${path}/orders`, init: { headers }, answer: nobody },
    {
      operationId: of("byKey"),
      path: `${path}/by-key`,
      init: { headers: { "x-api-key": "secret" } },
      answer: { subject: "key" },
    },
    { operationId: of("everybody"), path: `${path}/everybody`, answer: nobody },
  ];
}

function ofParameters(): readonly GoodRequest[] {
  const of = (name: string) => `InputsModule.ParametersController.${name}`;
  const path = `${V1}/inputs/tom/parameters`;
  const owner = "tom";
  return [
    {
      operationId: of("everyPlace"),
      path: `${path}/every/-3/ab/2024-02-29?id=${ID}&ratio=0.5&only_new=true&tags=a&tags=b` +
        "&at=2024-02-29T12:00:00Z&kind=thing&order=asc",
      init: { headers: { "x-trace": "beef" } },
      answer: {
        params: { owner, number: -3, code: "ab", day: "2024-02-29" },
        query: {
          text: "none",
          order: "asc",
          max: 20,
          ratio: 0.5,
          only_new: true,
          tags: ["a", "b"],
          at: "2024-02-29T12:00:00.000Z",
          kind: "thing",
          id: ID,
        },
        trace: "beef",
      },
    },
    {
      operationId: of("without_schema"),
      path: `${path}/plain/w%20rd/007`,
      answer: { owner, word: "w rd", digits: "007" },
    },
    { operationId: of("optionalLast"), path: `${path}/page/4`, answer: { owner, number: "4" } },
    { operationId: of("optionalLast.without_number"), path: `${path}/page`, answer: { owner } },
    { operationId: of("optionalWithSchema"), path: `${path}/leaf/4`, answer: { number: 4 } },
    {
      operationId: of("optionalWithSchema.without_number"),
      path: `${path}/leaf`,
      answer: { number: 7 },
    },
    {
      operationId: of("wildcard"),
      path: `${path}/files/a/b.txt`,
      answer: { owner, path: `${path}/files/a/b.txt` },
    },
    {
      operationId: of("wildcard.without_wildcard"),
      path: `${path}/files`,
      answer: { owner, path: `${path}/files` },
    },
    {
      operationId: of("anyOthers"),
      path: `${path}/others?x=1&y=2&y=3`,
      answer: { page: "1", x: ["1"], y: ["2", "3"] },
    },
    {
      operationId: of("bothParts"),
      path: `${path}/both?sort=name`,
      answer: { page: 1, sort: "name" },
    },
    {
      operationId: of("oneOfTwo"),
      path: `${path}/either?by=age&age=3`,
      answer: { by: "age", age: 3 },
    },
    {
      operationId: of("oneOfTwo"),
      path: `${path}/either?by=name&name=Tom`,
      answer: { by: "name", name: "Tom" },
    },
  ];
}

function ofBodies(): readonly GoodRequest[] {
  const of = (name: string) => `InputsModule.BodiesController.${name}`;
  const path = `${V1}/inputs/bodies`;
  const note = { text: "hello" };
  const form = () => {
    const data = new FormData();
    data.append("title", "A file");
    data.append("file", new File(["12345"], "five.png", { type: "image/png" }));
    return data;
  };
  return [
    {
      operationId: of("form"),
      path: `${path}/form`,
      init: { method: "POST", body: new URLSearchParams("name=Tom&amount=7&tags=a&tags=b") },
      answer: { name: "Tom", amount: 7, tags: ["a", "b"] },
    },
    {
      operationId: of("upload"),
      path: `${path}/upload`,
      init: { method: "POST", body: form() },
      status: 201,
      answer: { title: "A file", size: 5, type: "image/png" },
    },
    ...[new URLSearchParams(note), formOf(note)].map((body) => ({
      operationId: of("anyFormat"),
      path: `${path}/any-format`,
      init: { method: "PUT", body },
      answer: note,
    })),
    {
      operationId: of("anyFormat"),
      path: `${path}/any-format`,
      init: { method: "PUT", json: note },
      answer: note,
    },
    {
      operationId: of("maybe"),
      path: `${path}/maybe`,
      init: { method: "PATCH", json: note },
      answer: note,
    },
    { operationId: of("maybe"), path: `${path}/maybe`, init: { method: "PATCH" }, answer: null },
    {
      operationId: of("several"),
      path: `${path}/several`,
      init: { method: "DELETE", json: [1, 2] },
      status: 204,
    },
    {
      operationId: of("undocumented"),
      path: `${path}/undocumented`,
      init: { json: [1, { two: null }] },
      answer: { was: [1, { two: null }] },
    },
    {
      operationId: of("undocumented"),
      path: `${path}/undocumented`,
      init: { method: "POST" },
      answer: { was: null },
    },
  ];
}

function formOf(values: Readonly<Record<string, string>>): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(values)) data.append(name, value);
  return data;
}

function ofStatuses(): readonly GoodRequest[] {
  const statuses = [
    ["ok", "POST", 200],
    ["created", "POST", 201],
    ["accepted", "POST", 202],
    ["nonAuthoritative", "GET", 203],
    ["noContent", "DELETE", 204],
    ["partialContent", "GET", 206],
    ["multiStatus", "PUT", 207],
    ["alreadyReported", "GET", 208],
    ["imUsed", "GET", 226],
  ] as const;
  return statuses.map(([name, method, status]) => ({
    operationId: `AnswersModule.StatusesController.${name}`,
    path: `${V1}/answers/statuses/${status}`,
    init: { method },
    status,
    answer: status === 204 ? undefined : status === 207 ? [{ done: true }] : { done: true },
  }));
}

function ofMethods(): readonly GoodRequest[] {
  const of = (name: string) => `AnswersModule.MethodsController.${name}`;
  const path = `${V2}/answers/methods`;
  const listed = (which: string) => ({
    operationId: "answerByWhich",
    path: `${path}/listed/${which}`,
  });
  return [
    { ...listed("text"), answer: "text" },
    { ...listed("203"), status: 203, answer: "so they say" },
    { ...listed("302"), status: 302 },
    { ...listed("409"), status: 409, answer: { left: 0 } },
    {
      operationId: of("clash"),
      path: `${path}/clash?fast=1`,
      init: { method: "POST" },
      answer: { left: 1 },
    },
    { operationId: of("look"), path: `${path}/one`, answer: { left: 3 } },
    { operationId: of("peek"), path: `${path}/one`, init: { method: "HEAD" } },
    { operationId: of("methods"), path: `${path}/one`, init: { method: "OPTIONS" }, status: 204 },
    ...["PUT", "POST", "DELETE", "PATCH"].map((method) => ({
      operationId: of(`rest.${method.toLowerCase()}`),
      path: `${path}/one`,
      init: { method },
      answer: { method },
    })),
    { operationId: of("old"), path: `${path}/old`, answer: { left: 2 } },
    { operationId: of("sunset"), path: `/api/v3/answers/methods/sunset`, answer: { left: 1 } },
  ];
}

function ofProtections(headers: HeadersInit): readonly GoodRequest[] {
  const path = `${V1}/answers`;
  const answer = { done: true };
  const of = (name: string) => `AnswersModule.${name}`;
  return [
    {
      operationId: of("StoredController.once"),
      path: `${path}/stored/once`,
      init: { method: "POST", headers: { "idempotency-key": "one" } },
      answer,
    },
    {
      operationId: of("StaffController.room"),
      path: `${path}/staff/room`,
      init: { headers },
      answer,
    },
    {
      operationId: of("StaffController.office"),
      path: `${path}/staff/office`,
      init: { headers },
      answer,
    },
    { operationId: of("StaffController.door"), path: `${path}/staff/door`, answer },
    { operationId: of("LobbyController.desk"), path: `${path}/lobby/desk`, answer },
    { operationId: of("LobbyController.locked"), path: `${path}/lobby/locked`, answer },
    {
      operationId: of("VaultController.gold"),
      path: `${path}/vault/gold`,
      init: { method: "PUT", headers },
      answer,
    },
  ];
}
