/** The examples with a database, and the port of the RealWorld API, as targets. */
import { readFileSync } from "node:fs";
import type * as demo from "../../../../examples/demo.ts";
import type * as edge from "../../../../examples/edge.ts";
import type * as users from "../../../../examples/users.ts";
import { type FwApplication, FwFactory, type Module } from "../../../../mod.ts";
import { DbOptions } from "../../../../src/db/mod.ts";
import { prove } from "../../../../src/testing/mod.ts";
import { UNDOCUMENTED } from "../../../openapi/callers.ts";
import type * as realworld from "./realworld/app.ts";
import { pathOf, readFiles, type Target } from "./target.ts";

const MEMORY = "sqlite::memory:";

/** The example of users, whose callers have tenants. */
export async function usersTarget(): Promise<Target> {
  const { appModule, setUp } = await import("../../../../examples/users.ts");
  return {
    ...example("users"),
    document: await documentOf(
      appModule(MEMORY),
      (app) => setUp(app).useOAuth2({ verify }, { require: true }),
    ),
    proofOf(entry) {
      const { appModule, setUp } = entry as typeof users;
      return prove(appModule(MEMORY), {
        setUp: (app, { verifier }) => setUp(app).useOAuth2(verifier, { require: true }),
        callers: { ann: { tenant_id: "a" }, bob: { tenant_id: "b" }, root: { roles: ["admin"] } },
        revealed: ["users.email", "PATCH /api/v1/users/:id"],
      });
    },
  };
}

/** The example of notes, which belong to their owners. */
export async function edgeTarget(): Promise<Target> {
  const { appModule, setUp } = await import("../../../../examples/edge.ts");
  return {
    ...example("edge"),
    document: await documentOf(
      appModule(DbOptions.fromUrl(MEMORY)),
      (app) => setUp(app, { verify }),
    ),
    proofOf(entry) {
      const { appModule, setUp } = entry as typeof edge;
      return prove(appModule(DbOptions.fromUrl(MEMORY)), {
        setUp: (app, { verifier }) => setUp(app, verifier),
        callers: { ann: { owner: "ann" }, bob: { owner: "bob" } },
      });
    },
  };
}

/** The tour of the data layer. */
export async function demoTarget(): Promise<Target> {
  const { appModule, setUp } = await import("../../../../examples/demo.ts");
  return {
    ...example("demo"),
    document: await documentOf(appModule(MEMORY), setUp),
    proofOf(entry) {
      const { appModule, setUp } = entry as typeof demo;
      return prove(appModule(MEMORY), { setUp, undocumented: UNDOCUMENTED });
    },
  };
}

/** The port of the RealWorld API. */
export async function realworldTarget(): Promise<Target> {
  const { appModule, setUp } = await import("./realworld/app.ts");
  return {
    name: "RealWorld",
    files: readFiles(pathOf("tests/testing/prove/holes/realworld")),
    entry: "app.ts",
    document: await documentOf(appModule(MEMORY), setUp),
    proofOf(entry) {
      const { appModule, setUp } = entry as typeof realworld;
      const writer = { scope: "articles:write" };
      return prove(appModule(MEMORY), {
        setUp,
        callers: { ann: writer, bob: writer, mod: { roles: ["moderator"] } },
        secrets: ["conduit-s3cret"],
      });
    },
    async [Symbol.asyncDispose]() {},
  };
}

/** Of an application that is inspected, no token is verified. */
function verify(): Promise<never> {
  return Promise.reject(new TypeError("It is not called"));
}

function example(
  name: string,
): Pick<Target, "name" | "files" | "entry" | typeof Symbol.asyncDispose> {
  const entry = `${name}.ts`;
  const files = new Map([[entry, readFileSync(pathOf(`examples/${entry}`), "utf8")]]);
  return { name, files, entry, async [Symbol.asyncDispose]() {} };
}

async function documentOf(root: Module, setUp: (app: FwApplication) => unknown): Promise<unknown> {
  const app = await FwFactory.create(root, { preview: true });
  setUp(app);
  return JSON.parse(JSON.stringify(await app.openApi()));
}
