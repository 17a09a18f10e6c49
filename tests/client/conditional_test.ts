/** Calls of routes with `etag`. */
import assert from "node:assert/strict";
import * as v from "valibot";
import { controller, FwFactory, module, route } from "../../mod.ts";
import { type ApiOf, createClient, ProblemError } from "../../src/client/mod.ts";
import { test } from "../support/test.ts";
import { same } from "../types/same.ts";

const Rows = { "~version": "revision" } as const;
const Note = v.object({ text: v.string() });

class NoteController extends controller("note") {
  #note = { text: "a", revision: 1 };

  read = route.get("/", { etag: Rows, response: Note }, () => this.#note);
  write = route.put("/", { etag: Rows, body: Note, response: Note }, ({ body, version }) => {
    return this.#note = { ...body, revision: (version ?? this.#note.revision) + 1 };
  });
  copy = route.post("/", { etag: Rows, response: Note }, () => this.#note);
  localized = route.patch("/", {
    etag: Rows,
    headers: v.object({ "x-language": v.string() }),
    response: Note,
  }, ({ headers, version }) => ({ text: `${headers["x-language"]} ${version}`, revision: 1 }));
  hidden = route.get("/hidden", {
    etag: Rows,
    headers: v.object({ "x-language": v.optional(v.string()) }),
  }, () => this.#note);
}
const NoteModule = module({ controllers: [NoteController] });
interface Api extends ApiOf<typeof NoteModule> {}

test("a client sends preconditions, which a change needs, and reads a 304", async () => {
  const app = await FwFactory.create(NoteModule);
  const api = createClient<Api>("http://localhost", { fetch: app.fetch });
  const data = await api.get("/note");
  same<typeof data, { text: string }>();
  const first = await api.get.safe("/note");
  same<typeof first.status, 200 | 304 | undefined>();
  if (first.status === 304) same<typeof first.data, undefined>();
  const tag = first.response.headers.get("etag")!;
  const known = await api.get.safe("/note", { headers: { "if-none-match": tag } });
  assert.deepEqual([known.status, known.data], [304, undefined]);
  const body = { text: "b" };
  const written = await api.put.safe("/note", { body, headers: { "if-match": tag } });
  same<typeof written.status, 200 | undefined>();
  assert.deepEqual([written.status, written.data], [200, { text: "b" }]);
  const headers = { "if-match": '"other"', "x-more": 1 };
  await assert.rejects(api.put("/note", { body, headers }), (error: ProblemError) => {
    assert.equal(error.problem.status, 412);
    return true;
  });
  assert.deepEqual(await api.post("/note"), { text: "b" });
  const both = { "if-match": tag, "x-language": "en" };
  assert.deepEqual(await api.patch("/note", { headers: both }), { text: "en 1" });
  await api.get("/note/hidden", { headers: { "if-none-match": tag } });
  // @ts-expect-error: a change needs if-match
  assert.equal((await api.put.safe("/note", { body })).problem?.status, 428);
  // @ts-expect-error: a change needs if-match
  await assert.rejects(api.patch("/note", { headers: { "x-language": "en" } }), ProblemError);
});
