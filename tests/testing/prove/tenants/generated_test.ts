/** A generated resource of tenants, proved. */
import assert from "node:assert/strict";
import { MadeProject } from "../../../cli/made_project.ts";
import { testOn } from "../../../support/test.ts";

testOn(["deno"], "projects are made for it")(
  "fw prove finds that a generated resource of tenants keeps them apart",
  async () => {
    await using project = await MadeProject.make({ db: "sqlite", authn: true });
    await project.fw(
      "generate resource user email:text:email:unique name:text:2..80 active:boolean=true " +
        "born:date? --tenant tenant_id",
    );
    await project.fw(
      "generate resource note title:text author:references:user editor:references:user? " +
        "parent:references:note? --tenant tenant_id",
    );
    for (const seed of [1, 2, 3]) {
      assert.match(
        await project.fw(`prove --only tenants --seed ${seed}`),
        /^tenants {2}\d+ routes, 2 of 2 tables with tenants, \d+ requests: nothing of another tenant is given, counted, changed or revealed\n/,
      );
    }
  },
  { slow: true },
);
