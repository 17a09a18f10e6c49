/** Nodes and their owners, and queries of them, at random. */
import fc from "fast-check";
import type { ExpressionBuilder } from "kysely";
import type { AnyTables } from "../../../src/db/mod.ts";
import { EDGES, type Kind } from "../support/graph.ts";
import type { Rows } from "./memory_graph.ts";
import type { Row } from "./memory_condition.ts";

/** The options of included rows. */
export interface IncludedRows {
  readonly where?: object;
  readonly orderBy?: readonly object[];
  readonly take?: number;
}

/** A query of rows. */
export interface Query {
  readonly kind: Kind;
  readonly scope: { readonly flag?: boolean };
  /** Whether marked rows are read. */
  readonly withDeleted: boolean;
  readonly where: object;
  readonly orderBy: readonly object[];
  readonly take: number;
  readonly skip: number;
  readonly distinct: readonly string[];
  readonly include: {
    readonly relations: Readonly<Record<string, IncludedRows | undefined>>;
    readonly counts: Readonly<Record<string, { readonly where?: object } | undefined>>;
  };
}

type Builder = ExpressionBuilder<AnyTables, string>;

const KINDS: readonly Kind[] = ["owner", "card", "node", "link"];
const name = fc.option(fc.constantFrom("a", "b", "A"), { freq: 3 });
const rank = fc.option(fc.integer({ min: 0, max: 2 }), { freq: 3 });
const flag = fc.oneof({ arbitrary: fc.constant(true), weight: 3 }, fc.constant(false));
/** When a row was deleted. */
const gone = fc.option(fc.constant(new Date(0)), { freq: 1 })
  .chain((date) => fc.constantFrom(date, null));
const key = fc.nat({ max: 5 });

/** Rows whose references exist: they are numbered, and a parent comes before its children. */
export const rows: fc.Arbitrary<Rows> = fc.record({
  owners: fc.array(fc.record({ name, flag, gone }), { minLength: 1, maxLength: 5 }),
  cards: fc.uniqueArray(fc.record({ owner: key, name, flag, gone }), {
    maxLength: 4,
    selector: ({ owner }) => owner,
  }),
  nodes: fc.array(
    fc.record({ parent: fc.option(key), owner: fc.option(key), name, rank, flag, gone }),
    {
      minLength: 1,
      maxLength: 8,
    },
  ),
  links: fc.array(fc.record({ node: key, owner: key, name, flag, gone }), { maxLength: 8 }),
}).map(({ owners, cards, nodes, links }) => {
  const ownerOf = (key: number | null) => key === null ? null : 1 + key % owners.length;
  const all = {
    owner: owners,
    card: cards.filter(({ owner }) => owner < owners.length)
      .map(({ owner, ...card }) => ({ owner_id: owner + 1, ...card })),
    node: nodes.map(({ parent, owner, ...node }, index) => ({
      parent_id: parent !== null && parent < index ? parent + 1 : null,
      owner_id: ownerOf(owner),
      ...node,
    })),
    link: links.map(({ node, owner, ...link }) => ({
      node_id: 1 + node % nodes.length,
      owner_id: ownerOf(owner),
      ...link,
    })),
  };
  const numbered = (rows: readonly Row[]) => rows.map((row, index) => ({ id: index + 1, ...row }));
  // The keys stay.
  return Object.fromEntries(
    Object.entries(all).map(([kind, rows]) => [kind, numbered(rows)]),
  ) as unknown as Rows;
});

const column = fc.oneof(
  fc.record({ name: fc.oneof(name, operators(fc.constantFrom("a", "b", "A"))) }),
  fc.record({
    name: operators(fc.constantFrom("a", "B", "A"))
      .map((operators) => ({ ...operators, mode: "insensitive" })),
  }),
  fc.record({ id: operators(fc.integer({ min: 1, max: 5 })) }),
  fc.record({ flag: fc.boolean() }),
  fc.record({ gone: fc.record({ isNull: fc.boolean() }) }),
);

const { owner, card, node, link } = fc.letrec<Record<Kind, object>>((tie) => {
  const relation = (kind: Kind) =>
    fc.oneof(
      ...Object.entries(EDGES[kind]).map(([name, { to, isMany }]) => {
        const where = tie(to);
        const orNull = fc.option(where, { freq: 4 });
        const [some, every, none] = ["some", "every", "none"].map((name) =>
          fc.record({ [name]: where })
        ) as [fc.Arbitrary<object>, fc.Arbitrary<object>, fc.Arbitrary<object>];
        return fc.record({
          [name]: isMany
            ? fc.oneof(some, every, none, fc.tuple(some, none).map(([a, b]) => ({ ...a, ...b })))
            : fc.oneof(orNull, fc.record({ is: orNull }), fc.record({ isNot: orNull }), where),
        });
      }),
    );
  const condition = (kind: Kind): fc.Arbitrary<object> =>
    fc.oneof(
      { maxDepth: 4, depthIdentifier: "graph", depthSize: "large" },
      { arbitrary: column, weight: 3 },
      { arbitrary: relation(kind), weight: 5 },
      { arbitrary: fc.tuple(column, relation(kind)).map(([a, b]) => ({ ...a, ...b })), weight: 2 },
      { arbitrary: fc.constant({}), weight: 1 },
      { arbitrary: fc.record({ OR: fc.array(tie(kind), { maxLength: 2 }) }), weight: 1 },
      { arbitrary: fc.record({ AND: fc.array(tie(kind), { maxLength: 2 }) }), weight: 1 },
      { arbitrary: fc.record({ NOT: tie(kind) }), weight: 2 },
    );
  return {
    owner: condition("owner"),
    card: condition("card"),
    node: condition("node"),
    link: condition("link"),
  };
});

/** A statement has at most 30 relations, of which an order has up to 9. */
const MAX_RELATIONS = 20;
const RELATION = /"(?:some|every|none|is|isNot|parent|owner|node|card)":/g;

/** How Kysely compares numbers, by the names that their columns have in the database. */
const COMPARED = { "<": "lt", ">=": "gte", "=": "equals" } as const;
const NUMBERS = {
  owner: { id: "owners.id" },
  card: { owner_id: "of" },
  node: { parent_id: "nodes.owner_id", owner_id: "nodes.parent_id", rank: "rank" },
  link: { id: "link_id", node_id: "links.node_id" },
} as const;

/** Returns conditions that are functions of Kysely, and the same ones as data. */
function ofKysely(kind: Kind): fc.Arbitrary<object> {
  const owners = fc.integer({ min: 0, max: 5 }).map((least) => {
    const build = (eb: Builder) =>
      eb("owners.id", "in", eb.selectFrom("owners as o").select("o.id").where("o.id", ">", least));
    return Object.assign(build, { same: { id: { gt: least } } });
  });
  const compared = fc.tuple(
    fc.constantFrom(...Object.entries(NUMBERS[kind])),
    fc.constantFrom("<", ">=", "="),
    fc.nat({ max: 5 }),
  ).map(([[name, column], operator, operand]) => {
    const build = (eb: Builder) => eb(column, operator, operand);
    return Object.assign(build, { same: { [name]: { [COMPARED[operator]]: operand } } });
  });
  return kind === "owner" ? fc.oneof(compared, owners) : compared;
}

/** Returns conditions, of which some are functions of Kysely. */
function withKysely(kind: Kind, where: fc.Arbitrary<object>): fc.Arbitrary<object> {
  const small = where.filter(isSmall);
  const built = ofKysely(kind);
  return fc.oneof(
    { arbitrary: small, weight: 6 },
    fc.record({ AND: fc.tuple(built, small) }),
    fc.record({ OR: fc.tuple(small, built) }),
    fc.record({ NOT: built }),
  );
}

/** Conditions on the rows of each model. */
export const wheres: Readonly<Record<Kind, fc.Arbitrary<object>>> = {
  owner: withKysely("owner", owner),
  card: withKysely("card", card),
  node: withKysely("node", node),
  link: withKysely("link", link),
};

function isSmall(where: object): boolean {
  return (JSON.stringify(where).match(RELATION)?.length ?? 0) <= MAX_RELATIONS;
}

const direction = fc.constantFrom("asc", "desc");

function order(kind: Kind, depth: number): fc.Arbitrary<object> {
  const own = fc.oneof(
    fc.tuple(fc.constantFrom("name", "flag", "id"), direction)
      .map((term) => Object.fromEntries([term])),
    fc.record({ name: fc.record({ sort: direction, mode: fc.constant("insensitive") }) }),
  );
  if (depth === 0) return own;
  const related = Object.entries(EDGES[kind]).map(([name, { to, isMany }]) =>
    fc.record({ [name]: isMany ? fc.record({ _count: direction }) : order(to, depth - 1) })
  );
  return fc.oneof(own, ...related);
}

function included(kind: Kind): fc.Arbitrary<Query["include"]> {
  const edges = Object.entries(EDGES[kind]);
  const relations = edges.map(([name, { to, isMany }]) => {
    const orderBy = fc.array(order(to, 2), { maxLength: 2 });
    const many = fc.record({ where: wheres[to], orderBy, take: fc.nat({ max: 3 }) }, {
      requiredKeys: [],
    });
    return [name, isMany ? many : fc.constant({})] as const;
  });
  const counts = edges.filter(([, { isMany }]) => isMany)
    .map(([name, { to }]) =>
      [name, fc.record({ where: wheres[to] }, { requiredKeys: [] })] as const
    );
  return fc.record({
    relations: fc.record(Object.fromEntries(relations), { requiredKeys: [] }),
    counts: fc.record(Object.fromEntries(counts), { requiredKeys: [] }),
  });
}

/** A query of rows. */
export const query: fc.Arbitrary<Query> = fc.oneof(...KINDS.map((kind) =>
  fc.record({
    kind: fc.constant(kind),
    scope: fc.oneof(
      { arbitrary: fc.constant({}), weight: 2 },
      { arbitrary: fc.constant({ flag: true }), weight: 2 },
      fc.constant({ flag: false }),
    ),
    withDeleted: fc.constantFrom(false, false, true),
    where: wheres[kind],
    orderBy: fc.array(order(kind, 3), { maxLength: 3 }),
    take: fc.integer({ min: 1, max: 9 }),
    skip: fc.nat({ max: 2 }),
    distinct: fc.oneof(fc.constant([]), fc.subarray(["name", "flag"])),
    include: included(kind),
  })
));

function operators(value: fc.Arbitrary<unknown>): fc.Arbitrary<object> {
  return fc.oneof(
    fc.record({ not: value }),
    fc.record({ in: fc.array(value, { maxLength: 2 }) }),
    fc.record({ notIn: fc.array(value, { maxLength: 2 }) }),
    fc.record({ gte: value }),
    fc.record({ isNull: fc.boolean() }),
  );
}
