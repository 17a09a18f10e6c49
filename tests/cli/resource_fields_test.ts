/** Resources whose fields are given on the command line, in projects for Deno. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SERVERS } from "../db/support/servers.ts";
import { testOn } from "../support/test.ts";
import { fw } from "./fw.ts";
import { MadeProject } from "./made_project.ts";

const test = testOn(["deno"], "projects are checked, tested and served by it");

/** The commands of docs/cli.md, and others: their code passes its checks on every database. */
const COMMANDS: readonly string[] = [
  "generate resource user email:text:email:unique name:text:2..80",
  "generate resource post title:text:2..80 body:text? views:integer=0 author:references:user " +
  "status:enum:draft,published=draft",
  "generate resource order reference:text:unique price:decimal:12,2:0.. at:timestamp=now " +
  "big:bigint:-5..5=2 day:date time:time? token:uuid=random data:blob? parent:references:order? " +
  "user:references? ratio:real:0.5.. open:boolean=true note:json? --tenant tenant_id",
  "g model line order:references no:integer text:text=it's",
  "g crud line",
];

for (const db of ["sqlite", "postgres", "mysql"] as const) {
  const skip = db === "sqlite" ? undefined : SERVERS[db].skip;
  test(
    `fw generate resource writes code of all fields that passes its checks (${db})`,
    async () => {
      await using project = await MadeProject.make({ db, authn: true, strict: true });
      for (const command of COMMANDS) await project.fw(command);
      assert.equal(await project.fw("db diff --check"), "The models and the migrations agree.\n");
      const names = await project.ok();
      const rows = ["User", "Post", "Order", "Line"];
      for (const name of rows) {
        assert.ok(names.includes(`${name} is stored and read`), name);
        const cycle = `creates, lists, finds, changes and deletes ${name.toLowerCase()}s`;
        assert.ok(names.includes(`${name}sController ${cycle}`), name);
      }
      assert.ok(names.includes("OrdersController hides the orders of another tenant"));
      assert.ok(names.includes("migrations create the tables of the models"));
    },
    { skip, slow: db === "sqlite" || "long" },
  );
}

test("a resource of fields validates, lists and documents them over HTTP", async () => {
  await using project = await MadeProject.make({ db: "sqlite" });
  for (const command of COMMANDS.slice(0, 2)) await project.fw(command);
  assert.equal(
    readFileSync(join(project.root, "src/posts/post_model.ts"), "utf8"),
    `import { field, model, type Row } from "@fw/fw/db";
import { User } from "../users/user_model.ts";

export const Post = model("posts", {
  id: field.integer().primaryKey(),
  title: field.text({ min: 2, max: 80 }),
  body: field.text().nullable(),
  views: field.integer().default(0),
  author_id: field.integer().references(User),
  status: field.enum(["draft", "published"]).default("draft"),
});
export type Post = Row<typeof Post>;
`,
  );
  await project.serving(async (request) => {
    const user = await request("/api/v1/users", {
      json: { email: "ada@example.org", name: "Ada" },
    });
    assert.deepEqual(await user.json(), { id: 1, email: "ada@example.org", name: "Ada" });
    const post = { title: "On engines", author_id: 1 };
    const created = await request("/api/v1/posts", { json: post });
    const row = { id: 1, ...post, body: null, views: 0, status: "draft" };
    assert.deepEqual(await created.json(), row);
    const notes = { ...post, title: "Notes", status: "published" };
    assert.equal((await (await request("/api/v1/posts", { json: notes })).json()).id, 2);

    const drafts = await request("/api/v1/posts?status=draft&sort=-title");
    assert.deepEqual(await drafts.json(), { rows: [row], next: null });
    const first = await request("/api/v1/posts?limit=1");
    const { next } = await first.json();
    assert.match(first.headers.get("link") ?? "", /rel="next"/);
    const second = await request(`/api/v1/posts?limit=1&cursor=${next}`);
    assert.deepEqual((await second.json()).rows.map(({ id }: { id: number }) => id), [2]);

    for (
      const [path, json, field] of [
        ["/api/v1/users", { email: "ada", name: "Ada" }, "email"],
        ["/api/v1/posts", { ...post, title: "O" }, "title"],
        ["/api/v1/posts", { ...post, status: "lost" }, "status"],
      ] as const
    ) {
      const refused = await request(path, { json });
      const { errors } = await refused.json();
      assert.deepEqual([refused.status, errors.map((it: { field: string }) => it.field)], [422, [
        field,
      ]]);
    }
    const lost = await request("/api/v1/posts?status=lost");
    assert.equal((await lost.json()).status, 422);
    const taken = { email: "ada@example.org", name: "Eve" };
    assert.equal((await (await request("/api/v1/users", { json: taken })).json()).status, 409);

    const { components: { schemas } } = await (await request("/openapi.json")).json();
    const { title, status } = schemas.CreatePostDto.properties;
    assert.deepEqual([title.minLength, title.maxLength, status.default], [2, 80, "draft"]);
  });
});

test("fw generate field adds a field to a model, with the migration of the difference", async () => {
  await using project = await MadeProject.make({ db: "sqlite" });
  await project.fw("g model post title:text");
  await project.fw("db migrate");
  const printed = await project.fw("generate field post slug:text:unique? views:integer=0");
  assert.match(printed, /^update src\/posts\/post_model\.ts$/m);
  assert.match(printed, /^create migrations\/0002_add_slug_and_views_to_posts\.sql$/m);
  assert.match(await project.fw("db migrate"), /^ran 0002_add_slug_and_views_to_posts$/m);
  assert.equal(await project.fw("db diff --check"), "The models and the migrations agree.\n");
});

test("fw generate refuses fields and models that it cannot use, and writes nothing", async () => {
  await using project = await MadeProject.make({ db: "sqlite" });
  await project.fw("g model user name:text");
  const model = () => readFileSync(join(project.root, "src/users/user_model.ts"), "utf8");
  const before = [await project.fw("db status"), model()];
  const mistakes: Readonly<Record<string, string>> = {
    "g model post title:txt": 'Cannot read the field "title:txt": there is no kind txt; ',
    "g model post author:references:person":
      "Cannot refer to person: src/database.ts lists no model Person; fw generate model person",
    "g model post parent:references:post":
      "Cannot generate parent_id: no row is the first; write parent_id?",
    "g crud post":
      "Cannot generate crud: there is no src/posts/post_model.ts; fw generate resource post",
    "g crud user --tenant tenant_id":
      "Cannot use src/users/user_model.ts: it declares no field tenant_id",
    "g model post a:text --tenant org_id:uuid":
      "Cannot use the tenant org_id:uuid: it is not the name of a column",
    "g resource post Tenant_Id:text --tenant tenant_id":
      "Cannot generate two fields named Tenant_Id",
    "g resource post a:text --tenant ID":
      'Cannot read the field "ID": "ID" is not the name of a field',
    "g field user NAME:text":
      "Cannot generate NAME: src/users/user_model.ts declares it already, or its code is not",
    "g field post a:text": "Cannot generate a field: there is no src/posts/post_model.ts",
    "g field user": "Cannot generate a field: name one, as in fw generate field user age:integer?",
    "g field user name:text":
      "Cannot generate name: src/users/user_model.ts declares it already, or its code is not",
  };
  for (const [command, message] of Object.entries(mistakes)) {
    const { code, stdout, stderr } = await fw(command, { cwd: project.root });
    assert.deepEqual([code, stdout], [1, ""], command);
    assert.ok(stderr.startsWith(`error: ${message}`), stderr);
  }
  assert.deepEqual([await project.fw("db status"), model()], before);
}, { slow: true });
