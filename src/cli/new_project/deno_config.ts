/**
 * The configuration of a new project.
 *
 * @module
 */
import { cliSpecifier, PACKAGE, RELEASE } from "../project/framework.ts";
import type { NewProject } from "./new_project.ts";

/** What does not belong in the repository. */
export const GITIGNORE = `# Secrets, and what is of this machine
.env*
!.env.example

# What the application stores
/data/*
!/data/.gitignore

/node_modules/
/coverage/
`;

/** What an application may do: less than everything. Metrics tell the name of the host. */
export const PERMISSIONS: readonly string[] = [
  "--allow-net",
  "--allow-env",
  "--allow-read",
  "--allow-write=data",
  "--allow-sys=hostname",
];

/** What strict projects ask of the compiler beside Deno's defaults, which are strict. */
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

/** What strict projects ask of the linter beside what Deno recommends. */
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

/** Gives `deno.json`. */
export function denoConfig({ strict, oauth2, checkout }: NewProject): string {
  const config = {
    tasks: {
      dev: task(
        "Serve, and begin anew when a file changes",
        `deno run ${PERMISSIONS.join(" ")} --env-file --watch src/main.ts`,
      ),
      start: task("Serve", `deno run ${PERMISSIONS.join(" ")} --env-file src/main.ts`),
      test: task("Run the tests", "deno test -A --env-file"),
      ok: task(
        "Check formatting, lint, types and tests: before a commit",
        // the check has seen the types of all, tests included
        "deno fmt --check && deno lint && deno check && deno task test --no-check",
      ),
      ...oauth2 && {
        idp: task(
          "Run an identity provider for development, and print a token of it",
          "deno run -A --env-file dev/identity_provider.ts",
        ),
      },
      fw: task("Generate code, look at routes, migrate: deno task fw --help", fwCommand()),
    },
    imports: { [PACKAGE]: RELEASE, valibot: "npm:valibot@^1.5.0" },
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
