/** `fw generate field` in projects for Deno, whose resources belong to tenants. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { parseEnv } from "node:util";
import { JwtKey, JwtService } from "../../src/authn/mod.ts";
import { run } from "../../src/cli/system/programs.ts";
import { SERVERS } from "../db/support/servers.ts";
import { testOn } from "../support/test.ts";
import { fw } from "./fw.ts";
import { MadeProject } from "./made_project.ts";

const test = testOn(["deno"], "projects are checked, tested and served by it");

/** What a request has besides its path and its token. */
interface Sent {
  readonly json?: unknown;
  readonly method?: string;
}

const USER = "generate resource user email:text:email:unique name:text --tenant tenant_id";
const NOTE = "generate resource note title:text --tenant tenant_id";
const FIELDS = ["author:references:user?", "slug:text:unique?", "parent:references:note?"];

function read({ root }: MadeProject, file: string): string {
  return readFileSync(join(root, file), "utf8");
}

/** Returns a token of a caller of a tenant. */
async function tokenOf(project: MadeProject, tenant_id: string): Promise<string> {
  const key = await JwtKey.fromPem(parseEnv(read(project, ".env"))["JWT_KEY"] ?? "");
  const service = new JwtService({ issuer: "shop", audience: "shop", key });
  return await service.sign({ subject: tenant_id, claims: { tenant_id } });
}

test(
  "fw generate field writes the code of a tenant that fw generate resource would write",
  async () => {
    await using project = await MadeProject.make({ db: "sqlite", authn: true });
    await project.fw(USER);
    await project.fw(`${NOTE.replace("title:text", "title:text author:references:user")}`);
    await project.fw("generate field note editor:references:user? slug:text:unique");
    await project.fw("generate field note parent:references:note? code:text:unique");

    await using other = await MadeProject.make({ db: "sqlite", authn: true });
    await other.fw(USER);
    const fields = "title:text author:references:user editor:references:user? slug:text:unique " +
      "parent:references:note? code:text:unique";
    await other.fw(NOTE.replace("title:text", fields));

    const [one = "", two = ""] = [project, other].map((it) =>
      read(it, "src/notes/notes_service.ts")
    );
    assert.match(one, /"author_id" \| "editor_id" \| "parent_id"/);
    assert.equal(one, two);
    for (const file of ["notes_controller.ts", "notes_controller_test.ts", "note_model_test.ts"]) {
      assert.equal(read(project, `src/notes/${file}`), read(other, `src/notes/${file}`));
    }
    assert.match(
      read(project, "src/notes/note_model.ts"),
      /unique: \[\["tenant_id", "slug"\], \["tenant_id", "code"\]\]/,
    );
  },
  { slow: true },
);

for (const db of ["sqlite", "postgres", "mysql"] as const) {
  test(
    `fields that fw generate field adds keep tenants apart (${db})`,
    async () => {
      await using project = await MadeProject.make({ db, authn: true, strict: true });
      await project.fw(USER);
      await project.fw(NOTE);
      const printed = await project.fw(["generate", "field", "note", ...FIELDS]);
      assert.doesNotMatch(printed, /^note/m);
      assert.equal(await project.fw("db diff --check"), "The models and the migrations agree.\n");
      await project.ok();
      await project.fw("db migrate");
      const [a, b] = [await tokenOf(project, "a"), await tokenOf(project, "b")];
      await project.serving(async (request) => {
        const send = async (token: string, path: string, options: Sent = {}) => {
          const response = await request(`/api/v1/${path}`, { ...options, token });
          const { id, detail } = await response.json();
          return { status: response.status, id, detail };
        };
        const theirs = await send(b, "users", { json: { email: "b@example.org", name: "B" } });
        const note = { title: "b", author_id: theirs.id, slug: "s" };
        const { id } = await send(b, "notes", { json: note });
        const found = await send(a, "notes", { json: { title: "a", author_id: theirs.id } });
        const none = await send(a, "notes", { json: { title: "a", author_id: theirs.id + 1000 } });
        assert.deepEqual(found, none);
        assert.equal(found.status, 409);
        assert.equal((await send(a, "notes", { json: { title: "a", parent_id: id } })).status, 409);
        const own = await send(a, "notes", { json: { title: "a", slug: "s" } });
        assert.equal(own.status, 201);
        const changes = { method: "PATCH", json: { author_id: theirs.id } };
        assert.equal((await send(a, `notes/${own.id}`, changes)).status, 409);
        assert.equal((await send(b, "notes", { json: note })).status, 409);
        for (const path of [`notes/${id}`, `users/${theirs.id}`]) {
          assert.equal((await send(b, path, { method: "DELETE" })).status, 200);
        }
      });
    },
    { skip: db === "sqlite" ? undefined : SERVERS[db].skip, slow: true },
  );
}

test(
  "fw prove finds no fault in resources of a tenant with fields of fw generate field",
  async () => {
    await using project = await MadeProject.make({ db: "sqlite", authn: true });
    await project.fw(USER);
    await project.fw(NOTE);
    await project.fw(["generate", "field", "note", ...FIELDS]);
    const [document = "", , tenants = ""] = (await project.fw("prove --seed 1")).split("\n");
    assert.match(document, /^document .*: every answer as documented, no 5xx/);
    assert.match(tenants, /nothing of another tenant is given, counted, changed or revealed$/);
  },
  { slow: true },
);

test(
  "fw generate field extends a service in the format of the project, with members of its own",
  async () => {
    await using project = await MadeProject.make({ db: "sqlite", authn: true });
    const config = join(project.root, "deno.json");
    const fmt = { singleQuote: true, semiColons: false, lineWidth: 60 };
    writeFileSync(config, JSON.stringify({ ...JSON.parse(readFileSync(config, "utf8")), fmt }));
    await run([process.execPath, "fmt", "--quiet"], { cwd: project.root });
    await project.fw(USER);
    await project.fw(NOTE);
    const service = join(project.root, "src/notes/notes_service.ts");
    const members = "  all() {\n    return this.#db.note.findMany()\n  }\n\n  page(";
    writeFileSync(service, readFileSync(service, "utf8").replace("  page(", members));
    const printed = await project.fw(["generate", "field", "note", ...FIELDS]);
    assert.doesNotMatch(printed, /^note/m);
    await project.fw("generate field note editor:references:user?");
    const code = readFileSync(service, "utf8");
    assert.ok(code.includes(members));
    assert.match(code, /'author_id' \| 'parent_id' \| 'editor_id'/);
    const checked = await run([process.execPath, "fmt", "--check"], { cwd: project.root });
    assert.equal(checked.code, 0, checked.stderr);
  },
  { slow: true },
);

test("fw generate field names the checks that a changed service needs", async () => {
  await using project = await MadeProject.make({ db: "sqlite", authn: true });
  await project.fw(USER);
  await project.fw(NOTE);
  const service = join(project.root, "src/notes/notes_service.ts");
  const changed = read(project, "src/notes/notes_service.ts").replace(
    "return this.#of(tenant_id).create({ data });",
    'return this.#of(tenant_id).create({ data: { ...data, title: "new" } });',
  );
  writeFileSync(service, changed);
  const printed = await project.fw(["generate", "field", "note", ...FIELDS]);
  assert.equal(readFileSync(service, "utf8"), changed);
  const notes = printed.split("\n").filter((line) => line.startsWith("note "));
  assert.deepEqual(
    notes,
    [["author_id", "user"], ["parent_id", "note"]].map(([name, target]) =>
      "note Add to src/notes/notes_service.ts, which is not as generated, before it creates or " +
      `updates a row: if ( data.${name} !== undefined && data.${name} !== null && ` +
      `!await this.#db.${target}.scoped({ tenant_id }).exists({ where: { id: data.${name} } }) ` +
      `) throw new ConflictException("${name} refers to no row");`
    ),
  );
  assert.match(read(project, "src/notes/note_model.ts"), /unique: \[\["tenant_id", "slug"\]\]/);
  assert.match(
    read(project, "src/notes/notes_controller.ts"),
    /409: "A value is taken, or refers to no row"/,
  );
}, { slow: true });

test(
  "fw generate field --tenant makes fields of a model without a resource unique for each tenant",
  async () => {
    await using project = await MadeProject.make({ db: "sqlite", authn: true });
    await project.fw("generate model tag name:text --tenant tenant_id");
    const printed = await project.fw(
      "generate field tag slug:text:unique? parent:references:tag? --tenant tenant_id",
    );
    assert.match(
      printed,
      /^note Add to the code that writes tags, before it creates .* no row"\);$/m,
    );
    assert.match(read(project, "src/tags/tag_model.ts"), /unique: \[\["tenant_id", "slug"\]\]/);
    const { code, stderr } = await fw("generate field tag a:text --tenant org_id", {
      cwd: project.root,
    });
    assert.deepEqual([code, stderr], [
      1,
      "error: Cannot use src/tags/tag_model.ts: it declares no field org_id\n",
    ]);
    await project.fw("generate crud tag --tenant tenant_id");
    assert.match(
      read(project, "src/tags/tags_service.ts"),
      /scoped\(\{ tenant_id \}\).exists\(\{\s+where: \{ id: data.parent_id \}/,
    );
    assert.match(read(project, "src/tags/tag_dto.ts"), /filter: \["slug", "parent_id"\]/);
  },
  { slow: true },
);
