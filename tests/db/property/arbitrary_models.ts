/** Models that differ in all that a model can declare. */
import fc from "fast-check";
import { field, model } from "../../../src/db/mod.ts";
import type { AnyField, AnyModel } from "../../../src/db/model/model.ts";

/** A field as a plain value, so that a failure prints it. */
interface FieldPlan {
  readonly kind: string;
  readonly isNullable: boolean;
  readonly isUnique: boolean;
  readonly hasDefault: boolean;
  readonly onDelete: "restrict" | "cascade" | "set null";
}

/** A model as a plain value. */
export interface ModelPlan {
  readonly table: string;
  readonly key: "integer" | "text" | "uuid" | "pair";
  readonly fields: Readonly<Record<string, FieldPlan>>;
  readonly unique: readonly (readonly string[])[];
  readonly index: readonly (readonly string[])[];
  readonly schema: boolean;
}

/** Makes a field of each kind, and its default. */
const FIELDS: Readonly<Record<string, readonly [make: () => AnyField, value: unknown]>> = {
  integer: [() => field.integer(), 7],
  bounded: [() => field.integer({ min: 0, max: 10 }), 3],
  least: [() => field.integer({ min: -5 }), 3],
  bigint: [() => field.bigint(), 9n],
  text: [() => field.text(), "it's"],
  long: [() => field.text({ min: 1, max: 80 }), "a"],
  longer: [() => field.text({ max: 90 }), "b"],
  state: [() => field.enum(["draft", "published"]), "draft"],
  states: [() => field.enum(["draft", "published", "gone"]), "gone"],
  single: [() => field.enum(["one"]), "one"],
  boolean: [() => field.boolean(), true],
  real: [() => field.real(), 1.5],
  price: [() => field.decimal({ precision: 12, scale: 2, min: "0" }), "2.50"],
  amount: [() => field.decimal({ precision: 14, scale: 4 }), "1"],
  json: [() => field.json(), { a: [1] }],
  timestamp: [() => field.timestamp(), new Date(0 + Date.UTC(2026, 0, 1))],
  date: [() => field.date(), "2026-01-31"],
  time: [() => field.time(), "12:30:00"],
  uuid: [() => field.uuid(), "123e4567-e89b-42d3-a456-426614174000"],
  blob: [() => field.blob(), new Uint8Array([1, 2])],
  tags: [() => field.text().array(), ["a"]],
  numbers: [() => field.integer().array(), [1]],
  created: [() => field.createdAt(), undefined],
};
/** Kinds that have no key and no index. */
const KEYLESS: readonly string[] = ["json", "blob", "tags", "numbers"];
const TABLES = ["cats", "pet_owners", "order"] as const;
const COLUMNS = ["name", "age", "select", "kind", "note"] as const;

const fieldPlan: fc.Arbitrary<FieldPlan> = fc.record({
  kind: fc.oneof(
    { arbitrary: fc.constantFrom(...Object.keys(FIELDS)), weight: 5 },
    { arbitrary: fc.constantFrom(...TABLES.map((table) => `to ${table}`), "self"), weight: 2 },
  ),
  isNullable: fc.boolean(),
  isUnique: fc.nat({ max: 4 }).map((n) => n === 0),
  hasDefault: fc.boolean(),
  onDelete: fc.constantFrom("restrict", "cascade", "set null"),
});

const columns = fc.uniqueArray(fc.constantFrom(...COLUMNS), { minLength: 1, maxLength: 2 });

const modelPlan = (table: string): fc.Arbitrary<ModelPlan> =>
  fc.record({
    table: fc.constant(table),
    key: fc.oneof(
      { arbitrary: fc.constant("integer" as const), weight: 4 },
      { arbitrary: fc.constantFrom("text" as const, "uuid" as const, "pair" as const), weight: 1 },
    ),
    fields: fc.dictionary(fc.constantFrom(...COLUMNS), fieldPlan, { noNullPrototype: true }),
    unique: fc.array(columns.filter(({ length }) => length > 1), { maxLength: 1 }),
    index: fc.array(columns, { maxLength: 2 }),
    schema: fc.nat({ max: 9 }).map((n) => n === 0),
  });

/** Models of up to three tables. */
export const models: fc.Arbitrary<readonly ModelPlan[]> = fc.subarray([...TABLES], { minLength: 1 })
  .chain((tables) => fc.tuple(...tables.map(modelPlan)));

/** A pair of models: of others, or of the same with a few others. */
export const pairOfModels: fc.Arbitrary<readonly [readonly ModelPlan[], readonly ModelPlan[]]> = fc
  .oneof(
    fc.tuple(models, models),
    fc.tuple(models, models).map(([one, other]) =>
      [
        one,
        one.map((plan, i) => {
          const changed = other[i];
          return changed && i % 2 === 0
            ? {
              ...plan,
              fields: { ...plan.fields, ...firstOf(changed.fields) },
              index: changed.index,
            }
            : plan;
        }),
      ] as const
    ),
  );

function firstOf(fields: ModelPlan["fields"]): ModelPlan["fields"] {
  return Object.fromEntries(Object.entries(fields).slice(0, 2));
}

/** Creates the models of plans, leaving out what a model cannot declare. */
export function modelsOf(plans: readonly ModelPlan[]): Record<string, AnyModel> {
  const made: Record<string, AnyModel> = {};
  for (const plan of plans) made[plan.table] = modelOf(plan, { plans, made });
  return made;
}

function modelOf(
  plan: ModelPlan,
  { plans, made }: {
    readonly plans: readonly ModelPlan[];
    readonly made: Record<string, AnyModel>;
  },
): AnyModel {
  const fields: Record<string, AnyField> = plan.key === "pair"
    ? { tenant: field.integer(), id: field.integer() }
    : {
      id:
        (plan.key === "integer"
          ? field.integer()
          : plan.key === "text"
          ? field.text()
          : field.uuid()).primaryKey(),
    };
  for (const [name, own] of Object.entries(plan.fields)) {
    fields[name] = fieldOf(own, { plan, plans, made });
  }
  const indexed = (columns: readonly string[]) =>
    columns.every((name) => fields[name] && !KEYLESS.includes(plan.fields[name]?.kind ?? ""));
  const unique = plan.unique.filter(indexed);
  // The same index twice would be one.
  const index = plan.index.filter(indexed)
    .filter((columns, i, all) => all.findIndex((it) => `${it}` === `${columns}`) === i);
  return model(plan.table, fields, {
    ...plan.key === "pair" && { primaryKey: ["tenant", "id"] },
    ...unique.length > 0 && { unique },
    ...index.length > 0 && { index },
    ...plan.schema && { schema: "audit" },
  } as Record<never, never>);
}

function fieldOf(
  { kind, isNullable, isUnique, hasDefault, onDelete }: FieldPlan,
  { plan, plans, made }: {
    readonly plan: ModelPlan;
    readonly plans: readonly ModelPlan[];
    readonly made: Record<string, AnyModel>;
  },
): AnyField {
  const isSelf = kind === "self" && plan.key !== "pair";
  const [, name = ""] = /^to (.+)/.exec(kind) ?? [];
  const target = isSelf ? plan : plans.find(({ table }) => table === name && made[name]);
  let made_: AnyField;
  if (target && target.key !== "pair" && (isSelf || target !== plan)) {
    const own = target.key === "integer"
      ? field.integer()
      : target.key === "text"
      ? field.text()
      : field.uuid();
    const effect = onDelete === "set null" && !isNullable ? "cascade" : onDelete;
    const options = { onDelete: effect };
    made_ = isSelf ? own.references("self", options) : own.references(made[name]!, options);
  } else {
    const [make, value] = FIELDS[kind] ?? FIELDS["integer"]!;
    made_ = make();
    if (hasDefault && value !== undefined) made_ = made_.default(value as never);
  }
  if (isNullable) made_ = made_.nullable();
  return isUnique && !KEYLESS.includes(kind) ? made_.unique() : made_;
}
