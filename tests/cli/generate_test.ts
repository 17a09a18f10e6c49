import assert from "node:assert/strict";
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterFile, test, testOnce } from "../support/test.ts";
import { fw } from "./fw.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";

/** Projects by the options of `fw new`: tests change copies of them. */
const shops = new Map<string, TemporaryFolder>();

afterFile(() => {
  for (const folder of shops.values()) folder[Symbol.dispose]();
  shops.clear();
});

/** A folder that contains a project `shop`. */
async function shop(options = "--no-git"): Promise<TemporaryFolder & { readonly root: string }> {
  const made = shops.get(options) ?? new TemporaryFolder();
  if (!shops.has(options)) {
    shops.set(options, made);
    const { code, stderr } = await fw(`new shop ${options}`, { cwd: made.path });
    assert.deepEqual([code, stderr], [0, ""]);
  }
  const folder = new TemporaryFolder();
  cpSync(made.path, folder.path, { recursive: true });
  return Object.assign(folder, { root: join(folder.path, "shop") });
}

async function succeed(command: string, cwd: string): Promise<string> {
  const { code, stdout, stderr } = await fw(command, { cwd });
  assert.deepEqual([code, stderr], [0, ""], command);
  return stdout;
}

test("fw generate service writes code and its test, and lists it in the application", async () => {
  using folder = await shop();
  const before = folder.files("shop");
  const stdout = await succeed("generate service UserProfile", folder.root);
  assert.equal(
    stdout,
    `create src/user_profiles/user_profile_service.ts
create src/user_profiles/user_profile_service_test.ts
update src/app.ts
`,
  );
  const after = folder.files("shop");
  const changed = Object.keys(after).filter((file) => after[file] !== before[file]);
  assert.deepEqual(changed, [
    "src/app.ts",
    "src/user_profiles/user_profile_service.ts",
    "src/user_profiles/user_profile_service_test.ts",
  ]);
  const app = (before["src/app.ts"] ?? "")
    .replace("providers: [GreetingService]", "providers: [GreetingService, UserProfileService]")
    .replace(
      /(?=\n\nconst Hops)/,
      '\nimport { UserProfileService } from "./user_profiles/user_profile_service.ts";',
    );
  assert.equal(after["src/app.ts"], app);
});

test("fw generate loses no edit of a parallel run", async () => {
  using folder = await shop();
  const names = ["Mail", "Price", "Stock", "Tax"];
  const ended = await Promise.all(
    names.map((name) => fw(["g", "s", name, "--flat"], { cwd: folder.root })),
  );
  const app = folder.files("shop")["src/app.ts"] ?? "";
  const [, listed = ""] = /providers: \[([^\]]*)/.exec(app) ?? [];
  for (const [i, { code, stderr }] of ended.entries()) {
    const claimed = [code, stderr, listed.includes(`${names[i]}Service`)];
    const refused = "error: Cannot write src/app.ts: it was changed in the meantime; " +
      "run the command again\n";
    assert.deepEqual(claimed, code === 0 ? [0, "", true] : [1, refused, false], listed);
  }
  assert.ok(ended.some(({ code }) => code === 0));
  assert.ok(!(".fw.lock" in folder.files("shop")));
}, { slow: true });

test("fw generate puts a name into the folders before it, and lists it in the nearest module", async () => {
  using folder = await shop();
  await succeed("g mo admin", folder.root);
  await succeed("g co admin/Invoices", folder.root);
  await succeed("g s admin/mail --flat", folder.root);
  await succeed("g gu key --path src/admin --flat", folder.root);
  await succeed("g mo admin/reports", join(folder.root, "src/greeting")); // also from a folder below
  const files = folder.files("shop/src");
  assert.deepEqual(Object.keys(files).filter((file) => file.startsWith("admin/")), [
    "admin/admin_module.ts",
    "admin/admin_module_test.ts",
    "admin/invoices/invoices_controller.ts",
    "admin/invoices/invoices_controller_test.ts",
    "admin/key_guard.ts",
    "admin/key_guard_test.ts",
    "admin/mail_service.ts",
    "admin/mail_service_test.ts",
    "admin/reports/reports_module.ts",
    "admin/reports/reports_module_test.ts",
  ]);
  assert.equal(
    files["admin/admin_module.ts"],
    `import { module } from "@fw/fw";
import { InvoicesController } from "./invoices/invoices_controller.ts";
import { MailService } from "./mail_service.ts";
import { ReportsModule } from "./reports/reports_module.ts";

export const AdminModule = module({
  name: "AdminModule",
  imports: [ReportsModule],
  providers: [MailService],
  controllers: [InvoicesController],
});
`,
  );
  assert.match(files["app.ts"] ?? "", /imports: \[AdminModule\]/);
});

testOnce("fw generate puts every kind of a name, singular or plural, into one folder", async () => {
  using folder = await shop();
  for (const command of ["g module user", "g resource User", "g dto users", "g service user"]) {
    const listed = await succeed(command, folder.root);
    const files = [...listed.matchAll(/^create src\/(.+)\/\w*users?_\w+\.ts$/gm)];
    assert.ok(files.length > 0, listed);
    for (const [, own] of files) assert.equal(own, "users", listed);
  }
  const nested = await succeed("g controller user/settings", folder.root);
  assert.match(nested, /^create src\/users\/settings\/settings_controller\.ts$/m);
  assert.match(nested, /^update src\/users\/users_module\.ts$/m);
}, { slow: true });

test("fw generate resource adds a database to a project without one, and says so", async () => {
  using folder = await shop();
  const stdout = await succeed("generate resource people", folder.root);
  assert.match(stdout, /^note The project now has a database: src\/database\.ts, /m);
  const files = folder.files("shop");
  assert.deepEqual(Object.keys(files).filter((file) => /people|person|data|migr/.test(file)), [
    "data/.gitignore",
    "migrations/.gitkeep",
    "migrations/0001_create_people.down.sql",
    "migrations/0001_create_people.sql",
    "migrations/migrations_test.ts",
    "src/database.ts",
    "src/people/people_controller.ts",
    "src/people/people_controller_test.ts",
    "src/people/people_module.ts",
    "src/people/people_service.ts",
    "src/people/people_service_test.ts",
    "src/people/person_dto.ts",
    "src/people/person_model.ts",
    "src/people/person_model_test.ts",
    "src/test_database.ts",
  ]);
  assert.equal(
    files[".env"],
    "PORT=3000\nTRUSTED_PROXY_HOPS=0\nDATABASE_URL=sqlite:data/data.sqlite\n",
  );
  assert.match(files[".env.example"] ?? "", /^DATABASE_URL=sqlite:/m);
  assert.match(
    files["src/database.ts"] ?? "",
    /DbService\.with\(\{\n {2}.+\n {2}person: Person,\n\}\)/,
  );
  assert.match(files["src/app.ts"] ?? "", /imports: \[PeopleModule\]/);
  const second = await succeed("generate resource order", folder.root);
  assert.doesNotMatch(second, /note|\.env|create src\/database/);
  assert.match(
    files["src/app.ts"] ?? "",
    /enableHealthCheck\("\/health", \{\n.+db: \(\) => app\.get\(Db\)\.ping\(\)/,
  );
  assert.match(files["src/app_test.ts"] ?? "", /overrides: \[provide\(Db, openTestDatabase\)\]/);
  assert.match(files["Dockerfile"] ?? "", /^ENV DATABASE_URL=sqlite:data\/data\.sqlite$/m);
  assert.match(second, /create migrations\/0002_create_orders\.sql/);
});

testOnce("fw generate writes the SQL of the project's database", async () => {
  for (
    const [database, sql] of [
      ["postgres", /"orders" \(\n {2}"id" bigint generated by default as identity primary key,/],
      ["mysql", /`orders` \(\n {2}`id` bigint auto_increment primary key,/],
      ["sqlite", /"orders" \(\n {2}"id" integer primary key autoincrement,/],
    ] as const
  ) {
    using folder = await shop(`--no-git --db ${database}`);
    await succeed("g model order", folder.root);
    const files = folder.files("shop/migrations");
    assert.match(files["0001_create_orders.sql"] ?? "", sql);
    assert.match(files["0001_create_orders.down.sql"] ?? "", /^drop table ["`]orders["`];\n$/);
  }
}, { slow: true });

testOnce("fw generate --dry-run lists the changes, and makes none", async () => {
  using folder = await shop();
  const before = folder.files();
  for (const kind of ["resource", "module", "controller", "dto", "model", "migration"]) {
    const listed = await succeed(`generate ${kind} cat --dry-run`, folder.root);
    assert.match(listed, /^create /);
    assert.deepEqual(folder.files(), before);
    const { stdout } = await fw(`generate ${kind} cat --dry-run --force`, { cwd: folder.root });
    assert.equal(stdout, listed);
  }
  const listed = await succeed("generate resource cat --dry-run", folder.root);
  assert.equal(await succeed("generate resource cat", folder.root), listed);
}, { slow: true });

test("fw generate overwrites only generated files, and only with --force", async () => {
  using folder = await shop();
  await succeed("generate resource cat", folder.root);
  const generated = folder.files();
  writeFileSync(join(folder.root, "src/cats/cats_service.ts"), "// mine\n");
  const mine = folder.files();
  for (const options of ["", "--dry-run"]) {
    const refused = await fw(`generate resource cats ${options}`, { cwd: folder.root });
    assert.deepEqual([refused.code, refused.stdout], [1, ""]);
    assert.match(
      refused.stderr,
      /^error: Cannot write src\/cats\/.+: it exists; --force overwrites it\n$/,
    );
    assert.deepEqual(folder.files(), mine);
  }
  const forced = await succeed("generate resource cats --force", folder.root);
  assert.match(forced, /^overwrite src\/cats\/cats_service\.ts$/m);
  assert.deepEqual(folder.files(), generated);
}, { slow: true });

test("fw generate does not change a module that it does not understand, and says what to add", async () => {
  using folder = await shop();
  const app = 'import { module } from "@fw/fw";\nconst LIST = [];\n' +
    "export const AppModule = module({ imports: LIST, providers: [...LIST] });\n";
  writeFileSync(join(folder.root, "src/app.ts"), app);
  assert.match(
    await succeed("g mo billing", folder.root),
    /^note Add BillingModule to the imports of src\/app\.ts: its code is not /m,
  );
  assert.equal(folder.files("shop")["src/app.ts"], app);
  writeFileSync(join(folder.root, "src/app.ts"), "export {};\n");
  assert.match(
    await succeed("g s mail", folder.root),
    /^note Add MailService to the providers of src\/app/m,
  );
});

test("fw generate keeps the formatting of a file that deno fmt would change", async () => {
  using folder = await shop();
  const before = `import { module } from '@fw/fw'
import { GreetingService } from './greeting/greeting_service.ts'

export const AppModule = module({
    providers : [ GreetingService ]
})
`;
  writeFileSync(join(folder.root, "src/app.ts"), before);
  await succeed("g s mail", folder.root);
  const expected = before
    .replace("[ GreetingService ]", "[ GreetingService, MailService ]")
    .replace(
      "service.ts'\n",
      "service.ts'\nimport { MailService } from './mail/mail_service.ts'\n",
    );
  assert.equal(folder.files("shop")["src/app.ts"], expected);
});

const REFUSED: readonly (readonly [args: readonly string[], line: RegExp])[] = [
  [["../cats"], /Cannot generate "\.\.\/cats": it leads out of the project/],
  [["cats/../../../x"], /it leads out of the project/],
  [["/tmp/cats"], /Cannot generate "\/tmp\/cats": it leads out of the project/],
  [["C:\\cats"], /it leads out of the project/],
  [["ca\\..\\ts"], /it leads out of the project/],
  [["cats", "--path", "../x"], /Cannot generate "\.\.\/x": it leads out of the project/],
  [["cats", "--path", "/tmp"], /Cannot generate "\/tmp": it leads out of the project/],
  [["cats", "--path", "src/c#"], /Cannot generate in the folder "c#": the name is invalid/],
  [["cats", "--path", ".git"], /Cannot generate in the folder "\.git": the name is invalid/],
  [["cats", "--path", "src/app.ts"], /Cannot write src\/app\.ts\/.*: (EEXIST|ENOTDIR)/],
  [["cats", "--path", "out"], /Cannot write out\/cats\/.*: it is outside of the project/],
  [[""], /Cannot use the name: it is empty/],
  [["admin/"], /Cannot use the name: it is empty/],
  [["class"], /Cannot use the name "class": it is a reserved word/],
  [["1st"], /Cannot use the name "1st": it does not start with a letter/],
  [["a;b"], /Cannot use the name "a;b": it has other characters/],
];

testOnce(
  "fw generate refuses names and folders outside of the project, and writes nothing",
  async () => {
    using folder = await shop();
    mkdirSync(join(folder.path, "elsewhere"));
    symlinkSync("../elsewhere", join(folder.root, "out"));
    const before = [folder.files(), folder.names()];
    for (const [args, line] of REFUSED) {
      const { code, stdout, stderr } = await fw(["g", "service", ...args], { cwd: folder.root });
      assert.deepEqual([code, stdout], [1, ""], args.join(" "));
      assert.match(stderr, new RegExp(`^error: .*${line.source}.*\n$`));
      assert.deepEqual([folder.files(), folder.names()], before);
    }
  },
  { slow: true },
);

testOnce("fw generate refuses names of models that generated code uses", async () => {
  using folder = await shop();
  const before = folder.files();
  const names = ["db", "row", "promises", "listQuery", "date", "deno", "NaN", "infinity"];
  for (const name of [...names, "a".repeat(64)]) {
    const { code, stderr } = await fw(`g resource ${name}`, { cwd: folder.root });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^error: Cannot use the name ".+": (generated code uses another|a table has) .+\n$/,
    );
  }
  const reserved = await fw("g resource sqlite-file", { cwd: folder.root });
  assert.equal(
    reserved.stderr,
    'error: Cannot use the name "sqlite-file": SQLite reserves tables that begin with sqlite_\n',
  );
  const filter = await fw("g filter exception", { cwd: folder.root });
  assert.match(filter.stderr, /: generated code uses another ExceptionFilter\n$/);
  assert.deepEqual(folder.files(), before);
  await succeed("g model transaction", folder.root); // DbService.transaction() exists
  assert.match(folder.files("shop")["src/database.ts"] ?? "", /^ {2}transactions: Transaction,$/m);
}, { slow: true });

testOnce("fw generate does not list a second class of a name, and says so", async () => {
  using folder = await shop();
  await succeed("g co cats", folder.root);
  const app = folder.files("shop")["src/app.ts"];
  const second = await succeed("g co admin/cats", folder.root);
  assert.match(
    second,
    /^note Add CatsController to the controllers of src\/app\.ts: .+ has another CatsController$/m,
  );
  assert.equal(folder.files("shop")["src/app.ts"], app);
  assert.match(
    folder.files("shop")["src/admin/cats/cats_controller.ts"] ?? "",
    /extends controller\("admin\/cats", \{/,
  );
  await succeed("g resource dog", folder.root);
  const before = folder.files();
  for (const options of ["", "--force"]) {
    const refused = await fw(`g resource admin/dog ${options}`, { cwd: folder.root });
    assert.match(
      refused.stderr,
      /^error: Cannot generate src\/admin\/dogs\/dog_model\.ts: .+ has another Dog, of /,
    );
    assert.deepEqual(folder.files(), before);
  }
}, { slow: true });

test("fw generate resource keeps an existing model and its migration", async () => {
  using folder = await shop();
  await succeed("g model cat", folder.root);
  const model = join(folder.root, "src/cats/cat_model.ts");
  writeFileSync(model, `${folder.files("shop")["src/cats/cat_model.ts"]}// mine\n`);
  const mine = folder.files("shop");
  const stdout = await succeed("g resource cat --force", folder.root);
  assert.match(stdout, /^note src\/cats\/cat_model\.ts is kept/m);
  const files = folder.files("shop");
  for (const [path, text] of Object.entries(mine)) {
    if (/model|migrations|database/.test(path)) assert.equal(files[path], text, path);
  }
  assert.equal(Object.keys(files).filter((path) => /^migrations\/\d/.test(path)).length, 2);
});

test("fw generate refuses another database file, and adds a missing test database", async () => {
  using folder = await shop("--no-git --db postgres");
  rmSync(join(folder.root, "src/test_database.ts"));
  assert.match(await succeed("g resource cat", folder.root), /^create src\/test_database\.ts$/m);
  writeFileSync(join(folder.root, "src/database.ts"), "export const db = 1;\n");
  const before = folder.files();
  const { code, stderr } = await fw("g resource dog", { cwd: folder.root });
  assert.deepEqual([code, stderr], [
    1,
    "error: Cannot use the database: src/database.ts exports no Db\n",
  ]);
  assert.deepEqual(folder.files(), before);
});

testOnce("fw generate writes the SQL of the database in the environment", async () => {
  using folder = await shop("--no-git --db mysql");
  const first = async (command: string, env: Record<string, string> = {}) => {
    const { stdout } = await fw(`${command} --dry-run`, { cwd: folder.root, env });
    assert.match(stdout, /create migrations/);
    await fw(command, { cwd: folder.root, env });
    return Object.entries(folder.files("shop/migrations")).findLast(([path]) =>
      path.endsWith(".sql") && !path.endsWith(".down.sql")
    )?.[1] ?? "";
  };
  writeFileSync(join(folder.root, ".env"), "PORT=3000\n");
  assert.match(await first("g model a1"), /auto_increment/); // .env.example
  writeFileSync(join(folder.root, ".env"), "DATABASE_URL = 'postgres://x@y/z'\n");
  assert.match(await first("g model b1"), /as identity/);
  assert.match(await first("g model c1", { DATABASE_URL: "sqlite:x" }), /strict/);
}, { slow: true });

test("fw generate works in a member of a workspace, and ignores comments in its configuration", async () => {
  using folder = await shop();
  const member = join(folder.root, "packages/api");
  mkdirSync(join(member, "src"), { recursive: true });
  writeFileSync(join(member, "deno.json"), "{}");
  await succeed("g gu key", member);
  assert.deepEqual(Object.keys(folder.files("shop/packages/api/src")), [
    "keys/key_guard.ts",
    "keys/key_guard_test.ts",
  ]);
  writeFileSync(join(folder.path, "deno.jsonc"), '{ // "@fw/fw": "jsr:@fw/fw@1"\n}');
  const { stderr } = await fw("g gu key", { cwd: folder.path });
  assert.match(stderr, /^error: Cannot find a project: /);
});

test("fw generate without a name is invalid", async () => {
  using folder = await shop();
  const { code, stderr } = await fw("g service", { cwd: folder.root });
  assert.deepEqual([code, stderr], [2, "error: missing required argument 'name'\n"]);
});

test("fw generate that cannot write a file restores the others", async () => {
  using folder = await shop();
  writeFileSync(join(folder.root, "data"), "a file where a folder should be");
  const before = folder.files();
  const { code, stdout, stderr } = await fw("g resource cat", { cwd: folder.root });
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(stderr, /^error: Cannot write data\/\.gitignore: ENOTDIR\n$/);
  assert.deepEqual(folder.files(), before);
});

test("fw generate does not write through a link out of the project", async () => {
  using folder = await shop();
  const service = join(folder.root, "src/mail/mail_service.ts");
  mkdirSync(join(folder.root, "src/mail"));
  symlinkSync(join(folder.path, "outside.ts"), service);
  for (const options of ["", "--force"]) {
    const { code, stderr } = await fw(`g service mail ${options}`, { cwd: folder.root });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^error: Cannot write src\/mail\/mail_service\.ts: it is outside of the project\n$/,
    );
  }
  assert.deepEqual(folder.names(), ["shop"]);
});

test("fw generate adds variables to an environment file without a final line break", async () => {
  using folder = await shop();
  writeFileSync(join(folder.root, ".env"), "PORT=3000\nTEST_DATABASE_URL=sqlite:x");
  writeFileSync(join(folder.root, ".env.example"), "TEST_DATABASE_URL=");
  await succeed("g model cat", folder.root);
  const files = folder.files("shop");
  assert.equal(
    files[".env"],
    "PORT=3000\nTEST_DATABASE_URL=sqlite:x\nDATABASE_URL=sqlite:data/data.sqlite\n",
  );
  assert.match(files[".env.example"] ?? "", /^TEST_DATABASE_URL=\n\n#.*\nDATABASE_URL=sqlite:/);
});
