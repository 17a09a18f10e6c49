/**
 * The configuration of a new project.
 *
 * @module
 */
import { cliSpecifier, PACKAGE, RELEASE } from "../project/framework.ts";
import type { NewProject } from "./new_project.ts";

/** What git ignores. */
export const GITIGNORE = `# Secrets, and files of this machine
.env*
!.env.example
*.pem

# Data of the application
/data/*
!/data/.gitignore

/node_modules/
/coverage/
/prove.xml
`;

/** The permissions of an application. Metrics need the name of the host. */
export const PERMISSIONS: readonly string[] = [
  "--allow-net",
  "--allow-env",
  "--allow-read",
  "--allow-write=data",
  "--allow-sys=hostname",
];

/** Compiler options of strict projects, in addition to the defaults of Deno. */
const STRICT_COMPILER_OPTIONS = {
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noImplicitReturns: true,
  noFallthroughCasesInSwitch: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  verbatimModuleSyntax: true,
  erasableSyntaxOnly: true,
};

/** Lint rules of strict projects, in addition to those that Deno recommends. */
const STRICT_LINT_RULES = [
  "default-param-last",
  "eqeqeq",
  "explicit-module-boundary-types",
  "guard-for-in",
  "no-await-in-loop",
  "no-eval",
  "no-non-null-assertion",
  "no-sync-fn-in-async-fn",
  "no-throw-literal",
  "single-var-declarator",
];

/** Returns `deno.json`. */
export function denoConfig({ strict, oauth2, checkout }: NewProject): string {
  const config = {
    tasks: {
      dev: task(
        "Serve, and restart when a file changes",
        `FW_ENV=development deno run ${PERMISSIONS.join(" ")} --env-file --watch src/main.ts`,
      ),
      start: task("Serve", `deno run ${PERMISSIONS.join(" ")} --env-file src/main.ts`),
      test: task("Run the tests", "deno test -A --env-file"),
      ok: task(
        "Check formatting, lint, types and tests: before a commit",
        // deno check has checked the types, also of tests
        "deno fmt --check && deno lint && deno check && deno task test --no-check",
      ),
      ...oauth2 && {
        idp: task(
          "Run an identity provider for development, and print a token",
          "deno run -A --env-file dev/identity_provider.ts",
        ),
      },
      fw: task("Generate code, list routes, migrate: deno task fw --help", fwCommand()),
    },
    imports: {
      [PACKAGE]: RELEASE,
      hono: "npm:hono@^4.13.19", // for hono/cookie, hono/streaming and middleware
      valibot: "npm:valibot@^1.5.0",
    },
    ...checkout !== undefined && { links: [checkout] },
    ...strict && {
      compilerOptions: STRICT_COMPILER_OPTIONS,
      lint: { rules: { tags: ["recommended"], include: STRICT_LINT_RULES } },
    },
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

function task(description: string, command: string) {
  return { description, command };
}

function fwCommand(): string {
  return `deno run -A ${cliSpecifier()}`;
}
