/** A project of `fw new` with generated resources of tenants, as a target. */
import type { Proof } from "../../../../src/testing/mod.ts";
import { MadeProject } from "../../../cli/made_project.ts";
import { readFiles, type Target } from "./target.ts";

/** A project with customers, and invoices that refer to them. */
export async function projectTarget(): Promise<Target> {
  const project = await MadeProject.make({ db: "sqlite", authn: true });
  await project.fw(
    "generate resource customer email:text:email:unique name:text:2..80 active:boolean=true " +
      "born:date? --tenant tenant_id",
  );
  await project.fw(
    "generate resource invoice title:text total:integer:0..100000 " +
      "customer:references:customer? --tenant tenant_id",
  );
  return {
    name: "project",
    files: readFiles(project.root),
    entry: "prove.ts",
    document: JSON.parse(await project.fw("openapi")),
    proofOf: (entry) => (entry as { readonly default: Proof }).default,
    [Symbol.asyncDispose]: () => project[Symbol.asyncDispose](),
  };
}
