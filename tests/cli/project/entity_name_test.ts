import assert from "node:assert/strict";
import { CliError } from "../../../src/cli/terminal/cli_error.ts";
import { EntityName } from "../../../src/cli/project/entity_name.ts";
import { test } from "../../support/test.ts";

test("EntityName.parse() reads a name in any case", () => {
  const expected = {
    pascal: "UserProfile",
    camel: "userProfile",
    snake: "user_profile",
    kebab: "user-profile",
    title: "User Profile",
    prose: "user profile",
  };
  for (
    const text of ["userProfile", "user-profile", "UserProfile", "user_profile", "User Profile"]
  ) {
    assert.deepEqual({ ...EntityName.parse(text) }, expected, text);
  }
});

test("EntityName has singulars and plurals in every case", () => {
  const pairs = [
    ["cat", "cats"],
    ["person", "people"],
    ["category", "categories"],
    ["address", "addresses"],
    ["status", "statuses"],
    ["news", "news"],
    ["child", "children"],
    ["hero", "heroes"],
    ["bus", "buses"],
    ["order-item", "order-items"],
    ["dns", "dns"],
    ["cache", "caches"],
    ["canvas", "canvases"],
    ["virus", "viruses"],
  ] as const;
  for (const [one, many] of pairs) {
    for (const name of [EntityName.parse(one), EntityName.parse(many)]) {
      assert.deepEqual([name.singular().kebab, name.plural().kebab], [one, many], name.kebab);
    }
  }
  assert.equal(EntityName.parse("OrderItem").plural().pascal, "OrderItems");
  assert.equal(EntityName.parse("userIDs").snake, "user_ids");
});

test("EntityName.without() removes a last word, unless it is the only one", () => {
  assert.equal(EntityName.parse("CatsService").without("service").pascal, "Cats");
  assert.equal(EntityName.parse("service").without("service").pascal, "Service");
  assert.equal(EntityName.parse("microservice").without("service").pascal, "Microservice");
});

test("EntityName.withArticle() chooses by the sound", () => {
  const names = ["cat", "order", "user", "umbrella", "unit", "hour-glass"];
  assert.deepEqual(
    names.map((name) => EntityName.parse(name).withArticle()),
    ["a cat", "an order", "a user", "an umbrella", "a unit", "an hour glass"],
  );
});

test("EntityName.parse() refuses an invalid name, and says why", () => {
  const refusals = [
    ["", "Cannot use the name: it is empty"],
    ["  ", "Cannot use the name: it is empty"],
    ["1cat", 'Cannot use the name "1cat": it does not start with a letter'],
    ["-cat", 'Cannot use the name "-cat": it does not start with a letter'],
    ["../cat", 'Cannot use the name "../cat": it does not start with a letter'],
    [
      "ca\0t",
      'Cannot use the name "ca\\u0000t": it has other characters than A to Z, digits, - and _',
    ],
    ["ca/t", 'Cannot use the name "ca/t": it has other characters than A to Z, digits, - and _'],
    [
      "c${a}t",
      'Cannot use the name "c${a}t": it has other characters than A to Z, digits, - and _',
    ],
    ["übung", 'Cannot use the name "übung": it has other characters than A to Z, digits, - and _'],
    ["größe", 'Cannot use the name "größe": it has other characters than A to Z, digits, - and _'],
    ["class", 'Cannot use the name "class": it is a reserved word'],
    ["Class", 'Cannot use the name "Class": it is a reserved word'],
    ["await", 'Cannot use the name "await": it is a reserved word'],
    ["con", 'Cannot use the name "con": it is a reserved word'],
  ] as const;
  for (const [text, message] of refusals) {
    assert.throws(() => EntityName.parse(text), new CliError(message), JSON.stringify(text));
  }
  assert.throws(() => EntityName.parse("a".repeat(101)), /it is over 100 characters/);
});
