/** Changes of a type: the values are the same after them, or they are listed as losses. */
import assert from "node:assert/strict";
import { DbService, field, model } from "../../../../src/db/mod.ts";
import { type Brand, testOnEach } from "../../support/database.ts";
import { Project } from "./diffed_project.ts";

const id = field.integer().primaryKey();
const amount = () => field.decimal({ precision: 18, scale: 2 });

const Before = model("prices", {
  id,
  text_decimal: field.text().nullable(),
  text_real: field.text().nullable(),
  text_date: field.text().nullable(),
  decimal_text: amount().nullable(),
  decimal_real: amount().nullable(),
  bigint_real: field.bigint().nullable(),
  bigint_text: field.bigint().nullable(),
  real_decimal: field.real().nullable(),
  text_integer: field.text().nullable(),
});
const After = model("prices", {
  id,
  text_decimal: amount().nullable(),
  text_real: field.real().nullable(),
  text_date: field.date().nullable(),
  decimal_text: field.text().nullable(),
  decimal_real: field.real().nullable(),
  bigint_real: field.real().nullable(),
  bigint_text: field.text().nullable(),
  real_decimal: amount().nullable(),
  text_integer: field.integer().nullable(),
});
const LOSSES: Readonly<Record<Brand, readonly string[]>> = {
  postgres: [
    "text_decimal from text to numeric(18, 2), which can change values",
    "text_real from text to double precision, which can change values",
    "text_date from text to date, which can change values",
    "decimal_real from numeric(18, 2) to double precision, which can change values",
    "bigint_real from bigint to double precision, which can change values",
    "real_decimal from double precision to numeric(18, 2), which can change values",
  ],
  mysql: [
    "text_decimal from longtext to decimal(18, 2), which can change values",
    "text_real from longtext to double, which can change values",
    "text_date from longtext to date, which can change values",
    "decimal_real from decimal(18, 2) to double, which can change values",
    "bigint_real from bigint to double, which can change values",
    "real_decimal from double to decimal(18, 2), which can change values",
  ],
  sqlite: [
    "text_real from text to real, which can change values",
    "decimal_text from integer to text, which does not convert decimals",
    "decimal_real from integer to real, which does not convert decimals",
    "bigint_real from integer to real, which does not convert decimals",
    "bigint_text from integer to text, which does not convert decimals",
    "real_decimal from real to integer, which can change values",
  ],
};

testOnEach("diffSchema() lists changes of types that can change values as losses", async (
  { url, brand },
) => {
  const project = new Project(url);
  await project.become({ price: Before });
  await using before = await DbService.with({ price: Before }).open(project.options);
  await before.price.create({
    data: {
      text_decimal: "12",
      bigint_text: 2n ** 63n - 1n,
      real_decimal: 12.5,
      text_integer: "7",
    },
  });
  const { losses, migrations } = await project.become({ price: After });
  assert.deepEqual(losses, LOSSES[brand].map((loss) => `change prices.${loss}`));
  await using after = await DbService.with({ price: After }).open(project.options);
  const row = await after.price.findUnique({ where: { id: 1 } });
  assert.deepEqual([row?.text_decimal, row?.real_decimal], ["12.00", "12.50"]);
  assert.deepEqual([row?.bigint_text, row?.text_integer], ["9223372036854775807", 7]);
  await project.rollBack(migrations.length);
  const undone = await before.price.findUnique({ where: { id: 1 } });
  assert.deepEqual([undone?.text_decimal, undone?.real_decimal], ["12.00", 12.5]);
}, { slow: ["postgres"] });

const DECIMALS: readonly (readonly [text: string | null, decimal: string | null])[] = [
  [null, null],
  ["0", "0.00"],
  ["-0", "0.00"],
  ["12", "12.00"],
  ["12.5", "12.50"],
  ["12.500", "12.50"],
  ["-0.01", "-0.01"],
  ["-.5", "-0.50"],
  ["5.", "5.00"],
  ["0012.05", "12.05"],
  ["-9007199254740993.01", "-9007199254740993.01"],
  ["9999999999999999.99", "9999999999999999.99"],
];
const OTHERS = [
  ...["", " ", "abc", "1e0", "1.5e1", "12.505", "1,5", "--1", "1-", "1.-5", "-", ".", "-."],
  ...["1.2.3", "1.2.0", "0x10", "12 ", "99999999999999999999"],
];

testOnEach(
  "diffSchema() converts text of SQLite to decimals and back, exactly or not at all",
  async (
    { url },
  ) => {
    const Text = model("prices", { id, value: field.text().nullable() });
    const Decimal = model("prices", { id, value: amount().nullable() });
    const project = new Project(url);
    await project.become({ price: Text });
    await using text = await DbService.with({ price: Text }).open(project.options);
    const { migrations: [migration] } = await project.diff({ price: Decimal });
    const changed = project.options.migrations({
      ...project.migrations,
      "0002_decimal": migration!,
    });
    for (const value of OTHERS) {
      const { id } = await text.price.create({ data: { value } });
      await assert.rejects(changed.open(), /0002_decimal failed/, value);
      await text.price.delete({ where: { id } });
    }
    await text.price.createMany({ data: DECIMALS.map(([value]) => ({ value })) });
    const { losses } = await project.become({ price: Decimal });
    assert.deepEqual(losses, []);
    await using decimal = await DbService.with({ price: Decimal }).open(project.options);
    const expected = DECIMALS.map(([, value]) => value);
    const values = (rows: readonly { readonly value: string | null }[]) =>
      rows.map(({ value }) => value);
    assert.deepEqual(values(await decimal.price.findMany({ orderBy: { id: "asc" } })), expected);
    await project.rollBack(1);
    assert.deepEqual(values(await text.price.findMany({ orderBy: { id: "asc" } })), expected);
  },
  { brands: ["sqlite"] },
);

testOnEach(
  "diffSchema() converts booleans to whole numbers and back, in the rows that exist too",
  async ({ url }) => {
    const Flag = model("flags", { id, value: field.boolean() });
    const Count = model("flags", { id, value: field.integer() });
    const project = new Project(url);
    await project.become({ flag: Flag });
    await using flags = await DbService.with({ flag: Flag }).open(project.options);
    await flags.flag.createMany({ data: [{ value: true }, { value: false }] });
    assert.deepEqual((await project.become({ flag: Count })).losses, []);
    await using counts = await DbService.with({ flag: Count }).open(project.options);
    await counts.flag.update({ where: { id: 1 }, data: { value: 47 } });
    const values = async () =>
      (await flags.flag.findMany({ orderBy: { id: "asc" } })).map(({ value }) => value);
    await project.rollBack(1);
    assert.deepEqual(await values(), [true, false]);
    assert.equal(await flags.flag.count({ where: { value: true } }), 1);
    const undo = await project.become({ flag: Flag });
    assert.deepEqual(undo.losses, [
      "change flags.value from bigint to boolean, which can change values",
    ]);
    assert.deepEqual(await values(), [true, false]);
  },
  { brands: ["postgres", "mysql"], slow: ["postgres"] },
);

testOnEach(
  "diffSchema() replaces no column of a table that has rows, unless they get a value",
  async ({ url }) => {
    const Bytes = model("files", { id, value: field.blob() });
    const Size = model("files", { id, value: field.integer() });
    const project = new Project(url);
    await project.become({ file: Bytes });
    await using bytes = await DbService.with({ file: Bytes }).open(project.options);
    const { migrations: [migration], losses } = await project.diff({ file: Size });
    assert.match(losses.join(), /^drop column files.value, whose \w+ cannot become \w+$/);
    assert.match(migration!.down, /^-- drop column files.value, whose \w+ cannot become \w+\n/);
    const changed = project.options.migrations({
      ...project.migrations,
      "0002_size": { up: migration!.up, down: migration!.down },
    });
    const created = await bytes.file.create({ data: { value: Uint8Array.of(1, 2) } });
    for (let attempt = 0; attempt < 2; attempt++) {
      await assert.rejects(changed.open(), /0002_size failed/);
      assert.deepEqual(await bytes.file.findMany(), [created]);
      await bytes.checkTables();
    }
    await bytes.file.deleteMany({ all: true });
    await using size = await DbService.with({ file: Size }).open(changed);
    await size.checkTables();
    assert.equal((await size.file.create({ data: { value: 3 } })).value, 3);
  },
);
