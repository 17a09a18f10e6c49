import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DevelopmentIdentityProvider } from "../../src/testing/mod.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { ROOT } from "../support/project.ts";
import { test, testOnce } from "../support/test.ts";
import { documentedAnswers } from "./typed_client/documented_answers.ts";
import { limitedExample, type Serve, usersExample } from "./typed_client/servers.ts";
import { EXACT_TYPES, PRELUDE, REFUSED } from "./typed_client/snippets.ts";
import { Workspace } from "./typed_client/workspace.ts";

/**
 * Compiles a program with the types of a server's document, and runs it there. Returns the answers that it
 * was given, and those that are documented.
 */
async function drive(
  program: string,
  { at, args = [] }: { readonly at: Serve; readonly args?: readonly string[] },
): Promise<{ readonly given: unknown; readonly documented: readonly string[] }> {
  using workspace = new Workspace();
  workspace.addPrograms();
  const documented = await at(async (url) => {
    await workspace.generateTypes(`${url}/openapi.json`);
    return documentedAnswers(`${url}/openapi.json`);
  });
  assert.deepEqual(workspace.compile(), []);
  return { given: await at((url) => workspace.run(program, [url, ...args])), documented };
}

const isAnyOf = (...statuses: readonly number[]) => (answer: string) =>
  statuses.some((status) => answer.includes(` ${status} `));

test(
  "a typed client of the users example creates, lists, gets, changes and deletes, and gets each documented error that input can cause",
  async () => {
    const { given, documented } = await drive("every_operation.ts", { at: usersExample() });
    // without tokens there are no other tenants, and it takes 100 000 requests to pass the limit
    const isElsewhere = isAnyOf(403, 429);
    assert.deepEqual(given, documented.filter((answer) => !isElsewhere(answer)));
  },
  { slow: true },
);

testOnce(
  "a typed client of the users example with tokens gets 401 and 403 of every operation, as documented",
  () =>
    captureLogs(["fw"], async () => {
      await using provider = await DevelopmentIdentityProvider.start({ algorithm: "ES256" });
      const env = {
        OAUTH2_ISSUER: provider.issuer,
        OAUTH2_JWKS_URL: provider.jwksUrl,
        OAUTH2_AUDIENCE: "development",
      };
      const tokens = await Promise.all(
        [{ tenant_id: "ours" }, { tenant_id: "theirs" }, {}].map((claims) =>
          provider.issueToken({ subject: "alice", claims })
        ),
      );
      const { given, documented } = await drive("tenants.ts", {
        at: usersExample(env),
        args: tokens,
      });
      const created = "POST /api/v1/users 201 application/json";
      assert.deepEqual(given, [...documented.filter(isAnyOf(401, 403)), created].sort());
    }),
  { slow: true },
);

testOnce(
  "a typed client of the users example with a limit of 1 gets 429 of every operation, as documented",
  async () => {
    const { given, documented } = await drive("limit.ts", { at: limitedExample() });
    const listed = "GET /api/v1/users 200 application/json";
    assert.deepEqual(given, [...documented.filter(isAnyOf(429)), listed].sort());
  },
  { slow: true },
);

testOnce(
  "the types of the users document are exact, and refuse each wrong program with one error",
  async () => {
    using workspace = new Workspace();
    await usersExample()((url) => workspace.generateTypes(`${url}/openapi.json`));
    workspace.add("same.ts", readFileSync(join(ROOT, "tests/types/same.ts"), "utf8"));
    workspace.add("exact_types.ts", EXACT_TYPES);
    const refused = Object.entries(REFUSED).map(([what, snippet], i) => ({
      what,
      file: `refused_${i}.ts`,
      ...snippet,
    }));
    for (const { file, code } of refused) workspace.add(file, PRELUDE + code);

    const errors = Map.groupBy(workspace.compile(), ({ file }) => file);
    const wrong = refused.flatMap(({ what, file, error: [code, words] }) => {
      const found = errors.get(file) ?? [];
      errors.delete(file);
      const isAsExpected = found.length === 1 && found[0]?.code === code &&
        found[0].message.includes(words);
      return isAsExpected ? [] : [{ what, expected: [code, words], found }];
    });
    assert.deepEqual(wrong, []);
    assert.deepEqual(Object.fromEntries(errors), {}, "files have errors that are to have none");
  },
  { slow: true },
);
