/** Applications that do not answer as their documents describe: `document` finds each hole. */
import assert from "node:assert/strict";
import * as v from "valibot";
import {
  controller,
  type ControllerClass,
  dto,
  type FwApplication,
  HttpException,
  module,
  NotFoundException,
  route,
} from "../../../mod.ts";
import { type Failure, prove, type ProveOptions } from "../../../src/testing/mod.ts";
import { curl } from "../../../src/testing/prove/request/exchange_lines.ts";
import { test, testOnce } from "../../support/test.ts";

const Cat = dto("Cat", v.object({ id: v.number(), name: v.string() }));
const NewCat = dto("NewCat", v.object({ name: v.pipe(v.string(), v.minCodePoints(1)) }));
const CatId = dto("CatId", v.object({ id: v.pipe(v.string(), v.regex(/^\d{1,6}$/)) }));
const TIM = { id: 2, name: "Tim" };
const TOM = { id: 1, name: "Tom", owner: "ann" };

/** Returns what `document` finds in an application of one controller. */
async function failuresOf(
  controllers: readonly ControllerClass[],
  options: ProveOptions = {},
): Promise<readonly Failure[]> {
  const root = module({ name: "AppModule", controllers });
  const report = await prove(root, options).run({ requests: 400, seed: 7, only: ["document"] });
  return report.parts.flatMap(({ failures }) => failures);
}

const raw = (body: unknown, init?: ResponseInit) => Response.json(body, init);

/** The applications by their holes. */
const HOLES: readonly (readonly [
  hole: string,
  controller: ControllerClass,
  subject: string,
  message: RegExp,
  options?: ProveOptions,
])[] = [
  [
    "a status that is not documented",
    class extends controller("cats") {
      one = route.get("/:id", { params: CatId, response: Cat }, ({ params }) => {
        if (params.id.endsWith("7")) throw new HttpException(410, "It is gone");
        return TOM;
      });
    },
    "GET /cats/{id}",
    /^status 410 is not documented$/,
  ],
  [
    "a media type that is not documented",
    class extends controller("cats") {
      one = route.get("/", { response: Cat }, (_, c) => c.text("Tom"));
    },
    "GET /cats",
    /^200 has text\/plain, which is not documented$/,
  ],
  [
    "a field that is not stripped",
    class extends controller("cats") {
      one = route.get("/", { response: Cat }, () => raw(TOM));
    },
    "GET /cats",
    /^the body of 200 has owner, which is not documented$/,
  ],
  [
    "a field of a list that is not stripped",
    class extends controller("cats") {
      list = route.get("/", { response: v.array(Cat) }, () => raw([{ id: 2, name: "Kim" }, TOM]));
    },
    "GET /cats",
    /^the body of 200 has \[\]\.owner, which is not documented$/,
  ],
  [
    "a body that violates its schema",
    class extends controller("cats") {
      one = route.get("/", { response: Cat }, () => raw({ id: "1", name: "Tom" }));
    },
    "GET /cats",
    /^the body of 200 violates its schema$/,
  ],
  [
    "a body that is not JSON",
    class extends controller("cats") {
      one = route.get(
        "/",
        { response: Cat },
        () => new Response("{", { headers: { "content-type": "application/json" } }),
      );
    },
    "GET /cats",
    /^the body of 200 is not JSON$/,
  ],
  [
    "a body where none is documented",
    class extends controller("cats") {
      remove = route.delete("/", { status: 204 }, () => raw({ ok: true }, { status: 200 }));
    },
    "DELETE /cats",
    /^status 200 is not documented$/,
  ],
  [
    "a failure on odd input",
    class extends controller("cats") {
      add = route.post("/", { body: NewCat, response: Cat, status: 201 }, ({ body }) => {
        if (body.name.length > 5) throw new TypeError("It is too long");
        return { id: 1, name: body.name };
      });
    },
    "POST /cats",
    /^the server has failed with 500$/,
  ],
  [
    "a stack in an answer",
    class extends controller("cats") {
      one = route.get("/:id", { params: CatId, response: Cat }, () => {
        throw new NotFoundException(new Error("No such cat").stack ?? "");
      });
    },
    "GET /cats/{id}",
    /^the answer 404 contains a stack$/,
  ],
  [
    "a path of the source in an answer",
    class extends controller("cats") {
      one = route.get("/", { response: Cat }, () => ({
        ...TOM,
        name: new URL(import.meta.url).pathname,
      }));
    },
    "GET /cats",
    /^the answer 200 contains a path of the source$/,
  ],
  [
    "a secret in a header",
    class extends controller("cats") {
      one = route.get("/", { response: Cat }, (_, c) => {
        c.header("x-debug", "key=s3cret-s3cret");
        return TOM;
      });
    },
    "GET /cats",
    /^the answer 200 contains a secret$/,
    { secrets: ["s3cret-s3cret"] },
  ],
  [
    "a valid body that is refused",
    class extends controller("cats") {
      add = route.post("/", { body: NewCat, response: Cat, status: 201 }, ({ body }) => {
        if (body.name.includes("%")) throw new HttpException(422, "No percent sign");
        return { id: 1, name: body.name };
      });
    },
    "POST /cats",
    /^a valid request is answered with 422$/,
  ],
  [
    "an invalid body that is accepted",
    class extends controller("cats", { interceptors: [() => Promise.resolve(raw(TIM))] }) {
      add = route.post("/", { body: NewCat, response: Cat, status: 200 }, () => TOM);
    },
    "POST /cats",
    /^an invalid request is answered with 200$/,
  ],
  [
    "an answer that does not come",
    class extends controller("cats") {
      one = route.get(
        "/:id",
        { params: CatId, response: Cat },
        ({ params }) => params.id.length > 3 ? new Promise<typeof TOM>(() => {}) : TOM,
      );
    },
    "GET /cats/{id}",
    /^no answer in 300 ms$/,
    { timeoutMs: 300 },
  ],
];

for (const [hole, controllerClass, subject, message, options] of HOLES) {
  testOnce(`the part document finds ${hole}`, async () => {
    const failures = await failuresOf([controllerClass], options);
    assert.equal(failures.length, 1, JSON.stringify(failures));
    assert.equal(failures[0]?.subject, subject);
    assert.match(failures[0]?.message ?? "", message);
  });
}

test("a body that violates its schema is reported with the places where it does", async () => {
  class CatsController extends controller("cats") {
    list = route.get("/", { response: v.array(Cat) }, () => raw([TIM, { id: "1", name: "Tom" }]));
  }
  const [{ details = [] } = assert.fail()] = await failuresOf([CatsController]);
  const [answer = "", reason] = details.slice(-2);
  assert.match(answer, /^# 200 .*: \[{"id":2,"name":"Tim"},{"id":"1","name":"Tom"}\]$/);
  assert.equal(reason, "# /1/id: type");
});

test("a report hides the secrets that answers contain", async () => {
  class CatsController extends controller("cats") {
    one = route.get("/", { response: Cat }, () => ({ id: 1, name: "s3cret-s3cret" }));
  }
  const [{ message, details = [] } = assert.fail()] = await failuresOf([CatsController], {
    secrets: ["s3cret-s3cret", ""],
  });
  assert.equal(message, "the answer 200 contains a secret");
  assert.match(details.join("\n"), /"name":"<secret>"/);
  assert.doesNotMatch(details.join("\n"), /s3cret-s3cret/);
});

test("a request of a caller with a header of its own names a variable in its place", () => {
  const sent = { method: "GET", path: "/", headers: { "x-api-key": "k-1", accept: "*/*" } };
  const caller = { name: "ann", headers: { "x-api-key": "k-1" } };
  assert.equal(
    curl(sent, caller),
    `curl -i 'http://localhost:3000/' -H "x-api-key: $ANN_X_API_KEY" -H 'accept: */*'`,
  );
  const headers = { authorization: "Bearer t-1" };
  assert.equal(
    curl({ ...sent, headers }, { name: "ann", headers }),
    `curl -i 'http://localhost:3000/' -H "authorization: Bearer $ANN"`,
  );
});

for (const kind of ["header", "media type"] as const) {
  test(`versions in the ${kind} are no failures`, async () => {
    class CatsV1 extends controller("cats", { version: "v1" }) {
      list = route.get("/", { response: v.array(Cat) }, () => [TIM]);
    }
    class CatsV2 extends controller("cats", { version: "v2" }) {
      list = route.get("/", { response: v.array(v.object({ id: v.number() })) }, () => [TIM]);
    }
    const setUp = (app: FwApplication) =>
      kind === "header" ? app.enableHeaderVersioning() : app.enableMediaTypeVersioning();
    assert.deepEqual(await failuresOf([CatsV1, CatsV2], { setUp }), []);
  });
}

test("limits of addresses are reached, and an application without operations is no failure", async () => {
  class CatsController extends controller("cats") {
    list = route.get("/", { response: v.array(Cat) }, () => [TIM]);
    add = route.post("/", { body: NewCat, response: Cat, status: 201 }, () => TIM);
  }
  const root = module({ name: "AppModule", controllers: [CatsController] });
  const setUp = (app: FwApplication) => app.useRateLimit({ max: 100 });
  const { parts: [part] } = await prove(root, { setUp }).run({ requests: 200, seed: 1 });
  assert.deepEqual([part?.failures, part?.record], [[], []]);
  assert.equal((await prove(module({})).run({ requests: 200, seed: 1 })).isPassed, true);
});

/** Fails to rename a cat to a name of more than three characters. */
class RenamingController extends controller("cats") {
  readonly #names = new Map<number, string>();

  add = route.post("/", { body: NewCat, response: Cat, status: 201 }, ({ body: { name } }) => {
    const id = this.#names.size + 1;
    this.#names.set(id, name);
    return { id, name };
  });

  rename = route.patch("/:id", { params: CatId, body: NewCat, response: Cat }, (input) => {
    const [id, { name }] = [Number(input.params.id), input.body];
    if (!this.#names.has(id)) throw new NotFoundException("No such cat");
    if (name.length > 3) throw new TypeError("It does not fit");
    this.#names.set(id, name);
    return { id, name };
  });
}

test("a failure is reported with the requests before it that it needs, each as small as it can be", async () => {
  const root = module({ name: "AppModule", controllers: [RenamingController] });
  const run = () => prove(root).run({ requests: 300, seed: 3, only: ["document"] });
  const report = await run();
  const [{ subject, message, details = [] } = assert.fail()] = report.parts[0]?.failures ?? [];
  assert.equal(`${subject}: ${message}`, "PATCH /cats/{id}: the server has failed with 500");
  const curls = details.filter((line) => line.startsWith("curl"));
  const renamed = curls.pop() ?? "";
  const [, id, body = ""] =
    /^curl -i -X PATCH '.*\/cats\/(\d)' .*--data-binary '(.*)'/.exec(renamed) ?? [];
  assert.deepEqual([curls.length, id], [1, "1"], details.join("\n"));
  assert.match(curls[0] ?? "", /^curl -i -X POST '.*\/cats' /);
  const { name } = JSON.parse(body);
  assert.ok(name.length >= 4 && name.length <= 8, renamed);
  assert.match(details.at(-1) ?? "", /^# 500 application\/problem\+json: /);
  const again = await run();
  assert.deepEqual(again.parts[0]?.failures, report.parts[0]?.failures);
});
