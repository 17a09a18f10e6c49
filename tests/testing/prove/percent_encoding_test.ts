/** Percent-encoding in paths and pointers, some of which is malformed. */
import assert from "node:assert/strict";
import * as v from "valibot";
import { controller, dto, inject, module, route } from "../../../mod.ts";
import { DbModule, DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { prove } from "../../../src/testing/mod.ts";
import { pointerKeys, pointerPart } from "../../../src/testing/prove/document_keys.ts";
import { decodedUrl, percentDecoded } from "../../../src/testing/prove/percent_encoding.ts";
import { test, testOnce } from "../../support/test.ts";

test("percentDecoded() decodes texts, and keeps what is malformed", () => {
  const rows = [
    ["a%40b", "a@b"],
    ["%E6%97%A5%2f", "日/"],
    ["50%off", "50%off"],
    ["%C0%AF a%20b", "%C0%AF a b"],
    ["%", "%"],
  ] as const;
  for (const [text, expected] of rows) assert.equal(percentDecoded(text), expected);
  assert.equal(decodedUrl("/a+b%2Bc?d=e+f%2B&g=?"), "/a+b+c?d=e f+&g=?");
});

test("pointerKeys() reads what pointerPart() writes", () => {
  for (const key of ["/50%off/{id}", "/a%20b", "/é/日本", "a~1b", 'a b|^"<>\\`', "x#?"]) {
    const part = pointerPart(key);
    assert.doesNotMatch(part, /[/ {}|^"<>\\`#?]/);
    assert.deepEqual(pointerKeys(`#/paths/${part}`), ["paths", key]);
  }
});

const Name = dto("Name", v.object({ name: v.string() }));

class NamesController extends controller("names") {
  // half of a character, as JSON can have it
  list = route.get("/", { response: Name }, () => ({ name: "\ud800 alone" }));
  one = route.get("/50%off/:name", { params: Name, response: Name }, ({ params }) => params);
  other = route.get("/é/日本/:name", { params: Name, response: Name }, ({ params }) => params);
}

testOnce("Proof.run() sends requests to paths that have to be encoded", async () => {
  const root = module({ name: "AppModule", controllers: [NamesController] });
  const report = await prove(root).run({ requests: 300, seed: 1 });
  assert.equal(report.isPassed, true, report.toText());
}, { slow: true });

const Account = model("accounts", {
  email: field.text().email().primaryKey(),
  tenant_id: field.text(),
});

class Db extends DbService.with({ account: Account }) {}

class AccountsController extends controller("50%off") {
  readonly #db = inject(Db);

  one = route.get("/:email", async ({ params: { email } }) => {
    return { isFound: await this.#db.account.exists({ where: { email } }) };
  });
}

testOnce("the part tenants describes a row whose key is encoded in a path", async () => {
  const root = module({
    name: "AppModule",
    imports: [DbModule.forRoot(Db, DbOptions.fromUrl("sqlite::memory:"))],
    controllers: [AccountsController],
  });
  const callers = { ann: { tenant_id: "a" }, bob: { tenant_id: "b" } };
  const { parts: [part] } = await prove(root, { callers }).run({ only: ["tenants"], seed: 1 });
  const [{ message, details = [] } = assert.fail()] = part?.failures ?? [];
  const change = "isFound is true, and false without them";
  assert.equal(message, `the answer to bob depends on rows of ann: ${change}`);
  assert.match(details[0] ?? "", /^# a row of ann in accounts: {"email":"qzown1@example\.com",/);
});
