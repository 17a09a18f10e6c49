/** No model or job can be named after something that its generated code uses. */
import type { Node } from "@babel/types";
import assert from "node:assert/strict";
import { parseModule } from "../../../src/cli/edit/syntax.ts";
import type { Kind } from "../../../src/cli/generate/kind.ts";
import { JOB, JOB_NAMES } from "../../../src/cli/generate/kinds/job.ts";
import { USED_NAMES } from "../../../src/cli/generate/kinds/model.ts";
import { RESOURCE } from "../../../src/cli/generate/kinds/resource.ts";
import { readTarget } from "../../../src/cli/generate/target.ts";
import { FilePlan } from "../../../src/cli/system/file_plan.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { test } from "../../support/test.ts";

const FIELDS = "at:timestamp=now token:uuid=random big:bigint=1 price:decimal:5,2=1 day:date " +
  "state:enum:a,b=a note:json? data:blob name:text:unique other:references";
/** What is generated, with its fields and the column of its tenant. */
interface Run {
  readonly kind: Kind;
  readonly fields?: string;
  readonly tenant?: string;
}

const RUNS: Readonly<Record<string, Run>> = {
  "a resource": { kind: RESOURCE },
  "a resource of all fields": { kind: RESOURCE, fields: FIELDS },
  "a resource of a tenant": { kind: RESOURCE, fields: FIELDS, tenant: "tenant_id" },
  "a job": { kind: JOB },
  "a job with a payload": { kind: JOB, fields: "at:timestamp count:integer=1 state:enum:a,b" },
};

/** What `fw generate` writes for the name `widget`; files of all projects do not import it. */
async function filesOf({ kind, fields = "", tenant }: Run): Promise<readonly string[]> {
  using folder = new TemporaryFolder();
  const root = folder.path;
  const plan = new FilePlan(root);
  const variables = () => Promise.resolve({});
  const project = { root, configFile: "deno.json", framework: "jsr:@fw/fw", variables };
  const shared = { plan, project, tenant, retries: 2 };
  if (kind === RESOURCE) {
    const target = readTarget("other", { root, kind: kind.name });
    await RESOURCE.generate({ ...shared, target, fields: ["name:text"] });
  }
  const target = readTarget("widget", { root, kind: kind.name });
  await kind.generate({ ...shared, target, fields: fields.split(" ").filter(Boolean) });
  return plan.changes().filter(({ path }) => path.endsWith(".ts")).map(({ text }) => text)
    .filter((text) => text.includes("Widget"));
}

/** The names that code uses, without those of properties. */
function namesIn(node: Node): readonly string[] {
  if (node.type === "Identifier") return [node.name];
  return Object.entries(node).flatMap(([key, value]) => {
    const isName = key === "property" || key === "key" || key === "right" && "left" in node &&
        node.type === "TSQualifiedName";
    const parts: readonly unknown[] = Array.isArray(value) ? value : [value];
    return parts.flatMap((part) =>
      isNode(part) && !(isName && part.type === "Identifier") ? namesIn(part) : []
    );
  });
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}

for (const [what, run] of Object.entries(RUNS)) {
  test(`${what} cannot have a name that its code uses`, async () => {
    const files = await filesOf(run);
    const used = new Set<string>();
    for (const text of files) {
      const program = await parseModule(text);
      assert.ok(program, text);
      for (const name of namesIn(program)) used.add(name);
    }
    const own = /^(?:Create|Update)?(?:Widget|Other)/;
    const others = [...used].filter((name) => /^[A-Z]/.test(name) && !own.test(name));
    const refused = run.kind === JOB ? JOB_NAMES : USED_NAMES;
    assert.ok(used.has("Deno") && used.has("Widget"));
    assert.deepEqual(others.filter((name) => !refused.has(name)), []);
  });
}
