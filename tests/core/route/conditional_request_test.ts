/** Routes with `etag`: RFC 9110 §13, RFC 6585 §3. */
import assert from "node:assert/strict";
import { compress } from "hono/compress";
import { timeout } from "hono/timeout";
import { setTimeout as delay } from "node:timers/promises";
import * as v from "valibot";
import {
  controller,
  type FwApplication,
  FwFactory,
  type HttpMappedError,
  module,
  NotFoundException,
  route,
} from "../../../mod.ts";
import { test } from "../../support/test.ts";

/** A row, of which responses have no `revision`. */
interface Note {
  readonly id: string;
  readonly text: string;
  readonly revision: number;
}

const Rows = { "~version": "revision" } as const;
const Sent = v.object({ id: v.string(), text: v.string() });
const Body = v.object({ text: v.string() });

/** Another layer's error of a row that has another version. */
class Stale extends Error implements HttpMappedError {
  readonly httpStatus = 409;
  readonly code: string = "Conflict";
}
class Taken extends Stale {
  override readonly code = "UniqueViolation";
}

class NotesController extends controller("notes") {
  readonly notes = new Map<string, Note>();

  one = route.get("/:id", { etag: Rows, response: Sent }, ({ params }, c) => {
    c.header("cache-control", "no-cache");
    return this.#found(params.id);
  });
  whole = route.get("/:id/whole", { etag: Rows, response: Sent }, ({ params }, c) => {
    c.header("cache-control", "no-transform");
    return this.#found(params.id);
  });
  raw = route.get("/:id/raw", { etag: Rows }, ({ params }) => Response.json(params));
  none = route.get("/:id/none", { etag: Rows }, () => undefined);
  broken = route.get("/:id/broken", { etag: Rows }, () => ({ text: "no version" }));
  wrapped = route.get("/:id/wrapped", {
    etag: Rows,
    interceptors: [async (_, next) => ({ data: await next() })],
  }, ({ params }) => this.#found(params.id));
  create = route.post("/", { etag: Rows, body: Body, response: Sent, status: 201 }, ({ body }) => {
    return this.#set({ id: String(this.notes.size + 1), ...body, revision: 1 });
  });
  change = route.patch("/:id", {
    etag: Rows,
    body: Body,
    response: Sent,
  }, ({ params, body, version }) => this.#change(params.id, body.text, version));
  replace = route.put("/:id", {
    etag: Rows,
    body: Body,
    response: Sent,
  }, async ({ params, body, version }) => await this.#change(params.id, body.text, version));
  silent = route.patch("/:id/silent", {
    etag: Rows,
    body: Body,
    status: 204,
  }, ({ params, body, version }) => this.#change(params.id, body.text, version));
  remove = route.delete("/:id", { etag: Rows, status: 204 }, ({ params, version }) => {
    this.#change(params.id, "", version);
    this.notes.delete(params.id);
  });
  guarded = route.patch("/:id/guarded", { etag: Rows, guards: [() => false] }, () => undefined);
  plain = route.patch(
    "/:id/plain",
    { body: Body },
    ({ params, body }) => this.#change(params.id, body.text, 99),
  );
  filtered = route.patch("/:id/filtered", {
    etag: Rows,
    filters: [(error, c) => c.text(`${(error as Error).name}: ${(error as Error).cause}`, 418)],
  }, ({ params, version }) => this.#change(params.id, "", version));

  #found(id: string): Note {
    return this.notes.get(id) ?? NotFoundException.throw("No such note");
  }

  #change(id: string, text: string, version: number | undefined): Note {
    const note = this.#found(id);
    if (version !== undefined && note.revision !== version) throw new Stale("It has changed");
    if (text === "taken") throw new Taken("It is taken");
    return this.#set({ ...note, text, revision: note.revision + 1 });
  }

  #set(note: Note): Note {
    this.notes.set(note.id, note);
    return note;
  }
}

const NotesModule = module({ name: "NotesModule", controllers: [NotesController] });

/** An answer, without headers that it does not check. */
type Answer = readonly [status: number, etag: string | null, body: unknown];

class Caller {
  readonly #app: FwApplication;

  constructor(app: FwApplication) {
    this.#app = app;
  }

  async send(call: string, headers: Record<string, string> = {}, text?: string): Promise<Answer> {
    const [method, path] = call.split(" ") as [string, string];
    const response = await this.#app.request(path, {
      method,
      headers: { ...headers, ...text !== undefined && { "content-type": "application/json" } },
      ...text !== undefined && { body: JSON.stringify({ text }) },
    });
    const type = response.headers.get("content-type");
    const { detail } = type === "application/problem+json" ? await response.json() : {};
    const body = detail ?? await response.text().catch(() => undefined);
    return [response.status, response.headers.get("etag"), body];
  }
}

async function withNote(): Promise<Caller & { readonly tag: string }> {
  const caller = new Caller(await FwFactory.create(NotesModule));
  const [status, tag, body] = await caller.send("POST /notes", {}, "a");
  assert.deepEqual([status, body], [201, '{"id":"1","text":"a"}']);
  assert.match(String(tag), /^"1-[\w-]{16}"$/);
  return Object.assign(caller, { tag: String(tag) });
}

test("a route with etag sends the version and a digest of the body, and 304 to who has it", async () => {
  const notes = await withNote();
  const { tag } = notes;
  const whole: Answer = [200, tag, '{"id":"1","text":"a"}'];
  const known: Answer = [304, tag, ""];
  const cases: Readonly<Record<string, Answer>> = {
    [tag]: known,
    [`W/${tag}`]: known,
    "*": known,
    [`"x", W/"a,b",${tag} , "y"`]: known,
    [`, ,${tag}`]: known,
    '"x"': whole,
    [tag.slice(1, -1)]: whole, // it is no tag
    [`${tag} "x"`]: whole,
    [`*, ${tag}`]: whole,
    "": whole,
    "W/": whole,
  };
  assert.deepEqual(await notes.send("GET /notes/1"), whole);
  for (const [header, answer] of Object.entries(cases)) {
    assert.deepEqual(await notes.send("GET /notes/1", { "if-none-match": header }), answer, header);
  }
  assert.deepEqual(await notes.send("HEAD /notes/1"), [200, tag, ""]);
  assert.deepEqual(await notes.send("HEAD /notes/1", { "if-none-match": tag }), known);
  const missing = await notes.send("GET /notes/9", { "if-none-match": "*" });
  assert.deepEqual(missing, [404, null, "No such note"]);

  assert.deepEqual(await notes.send("GET /notes/1", { "if-match": `"x", ${tag}` }), whole);
  for (const header of ['"x"', `W/${tag}`]) {
    const failed = await notes.send("GET /notes/1", { "if-match": header, "if-none-match": tag });
    assert.deepEqual(failed, [412, null, "If-Match has another tag"], header);
  }
  assert.equal((await notes.send("GET /notes/1", { "if-match": "x" }))[0], 400);
  const both = { "if-match": "*", "if-none-match": tag };
  assert.deepEqual(await notes.send("GET /notes/1", both), known);
});

test("a 304 has the headers of the 200, and no body", async () => {
  const app = (await FwFactory.create(NotesModule)).use(async (c, next) => {
    await next();
    c.header("vary", "accept-language", { append: true });
  });
  await app.request("/notes", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"text":"a"}',
  });
  const headersOf = async (headers: Record<string, string>) => {
    const response = await app.request("/notes/1", { headers });
    await response.body?.cancel();
    return [response.status, Object.fromEntries(response.headers)] as const;
  };
  const [, { "content-type": type, ...rest }] = await headersOf({});
  assert.equal(type, "application/json");
  assert.deepEqual(Object.keys(rest).toSorted(), ["cache-control", "etag", "vary"]);
  assert.deepEqual(await headersOf({ "if-none-match": rest["etag"]! }), [304, rest]);
});

test("compression makes a tag weak, which no-transform prevents", async () => {
  const app = (await FwFactory.create(NotesModule)).use(compress({ threshold: 0 }));
  const notes = new Caller(app);
  const [, tag] = await notes.send("POST /notes", {}, "a");
  const gzip = { "accept-encoding": "gzip" };
  assert.equal((await notes.send("GET /notes/1", gzip))[1], `W/${tag}`);
  assert.equal((await notes.send("GET /notes/1/whole", gzip))[1], tag);
  const known = { ...gzip, "if-none-match": `W/${tag}` };
  assert.equal((await notes.send("GET /notes/1", known))[0], 304);
});

test("PUT, PATCH and DELETE of a route with etag demand a current If-Match", async () => {
  for (const method of ["PUT", "PATCH", "DELETE"]) {
    const notes = await withNote();
    const { tag } = notes;
    const text = method === "DELETE" ? undefined : "b";
    const send = (headers: Record<string, string>, path = "/notes/1") =>
      notes.send(`${method} ${path}`, headers, text);
    const stale = tag.replace("1-", "2-");
    const cases: readonly (readonly [string | undefined, number, string])[] = [
      [undefined, 428, "If-Match is missing; send the ETag of what is to be changed"],
      ["", 400, "If-Match is neither * nor a list of entity tags"],
      ["1", 400, "If-Match is neither * nor a list of entity tags"],
      [`${tag} ${tag}`, 400, "If-Match is neither * nor a list of entity tags"],
      [`*, ${tag}`, 400, "If-Match is neither * nor a list of entity tags"],
      [`W/${tag}`, 412, "If-Match has no strong tag"],
      [`W/${tag}, "x"`, 412, "If-Match has no current tag"],
      ['"x"', 412, "If-Match has no current tag"],
      ['"1"', 412, "If-Match has no current tag"],
      [tag.replace("1-", "01-"), 412, "If-Match has no current tag"],
      [tag.replace("1-", "9999999999999999-"), 412, "If-Match has no current tag"],
      [`${tag}, ${stale}`, 412, "If-Match has tags of several versions"],
      [stale, 412, "It has changed"],
    ];
    for (const [header, status, detail] of cases) {
      const answer = await send(header === undefined ? {} : { "if-match": header });
      assert.deepEqual(answer, [status, null, detail], `${method} ${header}`);
    }
    assert.deepEqual(await send({ "if-match": tag }, "/notes/9"), [404, null, "No such note"]);
    const [status, next] = await send({ "if-match": `"x", ${tag}, W/${stale}` });
    if (method === "DELETE") {
      assert.deepEqual([status, next], [204, null]);
      continue;
    }
    assert.equal(status, 200);
    assert.match(String(next), /^"2-/);
    assert.deepEqual(await send({ "if-match": tag }), [412, null, "It has changed"]);
    assert.equal((await send({ "if-match": String(next) }))[0], 200);
    assert.match(String((await send({ "if-match": "*" }))[1]), /^"4-/);
    assert.deepEqual(
      await notes.send("GET /notes/1", { "if-none-match": String(next) }).then(([status]) =>
        status
      ),
      200,
    );
  }
});

test("a precondition comes after guards and validation, and only a Conflict is a 412", async () => {
  const notes = await withNote();
  const matching = { "if-match": notes.tag };
  assert.equal((await notes.send("PATCH /notes/1/guarded"))[0], 403);
  const invalid = { method: "PATCH", path: "/notes/1" };
  assert.equal(
    (await notes.send(`${invalid.method} ${invalid.path}`, { "if-match": "x" }))[0],
    422,
  );
  assert.deepEqual(
    await notes.send("PATCH /notes/1", matching, "taken"),
    [409, null, "It is taken"],
  );
  assert.deepEqual(
    await notes.send("PATCH /notes/1/plain", matching, "b"),
    [409, null, "It has changed"],
  );
  assert.deepEqual(
    await notes.send("PATCH /notes/1/filtered", { "if-match": '"9-aaaaaaaaaaaaaaaa"' }),
    [418, null, "PreconditionFailedException: Error: It has changed"],
  );
});

test("only data with a version has a tag, which depends on the body too", async () => {
  const notes = await withNote();
  assert.deepEqual(await notes.send("GET /notes/1/raw"), [200, null, '{"id":"1"}']);
  assert.deepEqual(await notes.send("GET /notes/1/none"), [200, null, ""]);
  assert.equal((await notes.send("GET /notes/1/broken"))[0], 500);
  const [, wrapped, body] = await notes.send("GET /notes/1/wrapped");
  assert.equal(body, '{"data":{"id":"1","text":"a","revision":1}}');
  assert.match(String(wrapped), /^"1-/);
  assert.notEqual(wrapped, notes.tag);
  const silent = await notes.send("PATCH /notes/1/silent", { "if-match": String(wrapped) }, "b");
  assert.deepEqual(silent, [204, null, ""]);
});

test("route declarations refuse an etag without versions, and methods that cannot have one", () => {
  const noVersions = "etag has no versions: it is not a model with field.version()";
  const none = () => undefined;
  const wrong: readonly (readonly [declare: () => unknown, message: string])[] = [
    [() => route.get("/", { etag: { name: "notes" } as never }, none), `GET /: ${noVersions}`],
    [() => route.get("/", { etag: undefined as never }, none), `GET /: ${noVersions}`],
    [() => route.all("/", { etag: Rows }, none), "ALL /: ALL has no etag"],
    [() => route.options("/", { etag: Rows }, none), "OPTIONS /: OPTIONS has no etag"],
    [
      () => route.get("/", { etag: Rows, args: { version: () => 1 } }, none),
      "GET /: args cannot contain version: etag sets it",
    ],
  ];
  for (const [declare, message] of wrong) {
    assert.throws(declare, { name: "TypeError", message: `Cannot declare ${message}` });
  }
});

test("a route that is answered after its time limit sets no header of what was sent", async () => {
  let end = () => {};
  class SlowController extends controller("slow") {
    one = route.get("/", { etag: Rows }, async () => {
      await new Promise<void>((resolve) => end = resolve);
      return { revision: 1 };
    });
  }
  const app = await FwFactory.create(module({ controllers: [SlowController] }));
  app.use(async (_, next) => {
    await next();
    end();
    await delay(20); // the handler is answered before the response to the time limit is sent
  });
  app.use(timeout(1));
  for (const method of ["GET", "HEAD"]) {
    const { status, headers } = await app.request("/slow", { method });
    assert.equal(status, 504);
    assert.deepEqual([...headers], [["content-type", "application/problem+json"]], method);
  }
});
