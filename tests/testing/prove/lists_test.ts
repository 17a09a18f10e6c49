/** Lists in queries and forms: one value is a list too, and an empty list is not sent. */
import assert from "node:assert/strict";
import * as v from "valibot";
import { controller, type ControllerClass, module, route } from "../../../mod.ts";
import { prove } from "../../../src/testing/mod.ts";
import { test } from "../../support/test.ts";

const Letters = v.array(v.picklist(["a", "b"]));
const Tags = v.object({ tags: v.array(v.string()), letters: v.optional(Letters) });
const Optional = v.object({ tags: v.optional(v.array(v.string())), name: v.optional(v.string()) });
const Either = v.object({ tags: v.union([v.string(), v.array(v.string())]) });
const Files = v.object({ title: v.string(), files: v.array(v.file()) });

class ListsController extends controller("lists") {
  query = route.get("/", { query: Tags }, () => ({}));
  optional = route.get("/optional", { query: Optional }, () => ({}));
  form = route.post("/form", { body: Tags, consumes: ["form"] }, () => ({}));
  optionalForm = route.post("/optional", { body: Optional, consumes: ["form"] }, () => ({}));
  either = route.post("/either", { body: Either, consumes: ["json", "form"] }, () => ({}));
  files = route.post("/files", { body: Files, consumes: ["multipart"] }, () => ({}));
}

/** Returns the messages of failures. */
async function failuresOf(controllerClass: ControllerClass): Promise<string[]> {
  const proof = prove(module({ name: "AppModule", controllers: [controllerClass] }));
  const report = await proof.run({ only: ["document"], requests: 500, seed: 1 });
  return report.parts.flatMap(({ failures }) =>
    failures.map(({ subject, message }) => `${subject}: ${message}`)
  );
}

test("prove() finds no fault in lists of queries and forms", async () => {
  assert.deepEqual(await failuresOf(ListsController), []);
});

test("prove() finds a form whose list is not validated", async () => {
  class LooseController extends controller("lists") {
    form = route.post("/", {
      body: v.object({ letters: Letters }),
      consumes: ["form"],
      filters: [(_, c) => c.json({})], // answers as if the form was valid
    }, () => ({}));
  }
  assert.deepEqual(await failuresOf(LooseController), [
    "POST /lists: an invalid request is answered with 200",
  ]);
});
