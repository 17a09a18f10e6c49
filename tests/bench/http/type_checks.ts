/** How long the types of applications with many routes take to check. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/** A check of the types of an application. */
export interface TypeCheck {
  readonly peer: string;
  readonly routes: number;
  /** The whole time of `deno check` and of `tsc`, in seconds: the shortest. */
  readonly denoSeconds: number;
  readonly tscSeconds: number;
}

const HERE = import.meta.dirname!;
const BUILT = join(HERE, ".built/types");
const TIMES = 2;

/**
 * Applications as the documentation of each writes them, so that a client can have their types.
 * TypeScript refuses 1000 routes of Elysia.
 */
const SOURCES: Readonly<Record<string, (routes: number) => string>> = {
  fw: fwOf,
  "fw, a client": (routes) =>
    [
      `import { type ApiOf, createClient } from "@fw/fw/client";`,
      fwOf(routes),
      "export interface Api extends ApiOf<typeof AppModule> {}",
      `const api = createClient<Api>("http://localhost");`,
      ...numbers(routes / 20).map((n) =>
        `export const call${n} = () => api.get("/items/r${n}/:id", { params: { id: ${n} } });`
      ),
    ].join("\n"),
  hono: (routes) =>
    [
      `import { Hono } from "hono";`,
      ...groups(routes).map(([group, members]) =>
        `const g${group} = new Hono()${
          members.map((n) =>
            `\n  .get("/r${n}/:id", (c) => c.json({ id: c.req.param("id"), name: "r${n}" }))`
          ).join("")
        };`
      ),
      `export const app = new Hono()${
        groups(routes).map(([group]) => `\n  .route("/items", g${group})`).join("")
      };`,
    ].join("\n"),
};

function fwOf(routes: number): string {
  return [
    `import { controller, module, route } from "@fw/fw";`,
    `import * as v from "valibot";`,
    "const Item = v.object({ id: v.string(), name: v.string() });",
    `class ItemsController extends controller("items") {`,
    ...numbers(routes).map((n) =>
      `  r${n} = route.get("/r${n}/:id", { response: Item }, ` +
      `({ params }) => ({ id: params.id, name: "r${n}" }));`
    ),
    "}",
    "export const AppModule = module({ controllers: [ItemsController] });",
  ].join("\n");
}

/** Checks the types of 100 and 1000 routes of each peer, and of calls of a twentieth of them. */
export function measureTypeChecks(): readonly TypeCheck[] {
  mkdirSync(BUILT, { recursive: true });
  return Object.entries(SOURCES).flatMap(([peer, sourceOf]) =>
    [100, 1000].map((routes) => {
      const file = join(BUILT, `${peer.replace(/\W+/g, "_")}_${routes}.ts`);
      writeFileSync(file, sourceOf(routes) + "\n");
      const tsc = [join(HERE, "node_modules/typescript/bin/tsc"), "--noEmit", "--strict"];
      const target = ["--target", "esnext", "--module", "nodenext", "--skipLibCheck"];
      return {
        peer,
        routes,
        denoSeconds: shortest(() => {
          writeFileSync(file, `${sourceOf(routes)}\n// ${crypto.randomUUID()}\n`); // Deno caches
          run(process.execPath, ["check", "-q", "--config", join(HERE, "deno.json"), file]);
        }),
        tscSeconds: shortest(() => run("node", [...tsc, ...target, file])),
      };
    })
  );
}

function shortest(check: () => void): number {
  const times = numbers(TIMES).map(() => {
    const startMs = performance.now();
    check();
    return (performance.now() - startMs) / 1000;
  });
  return Math.min(...times);
}

function run(command: string, args: readonly string[]): void {
  execFileSync(command, args, { cwd: HERE, stdio: ["ignore", "ignore", "inherit"] });
}

/** Groups of 25 routes: TypeScript refuses a chain of 1000. */
function groups(routes: number): readonly (readonly [group: number, routes: readonly number[]])[] {
  const all = numbers(routes);
  return numbers(routes / 25).map((group) => [group, all.slice(25 * group, 25 * (group + 1))]);
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}
