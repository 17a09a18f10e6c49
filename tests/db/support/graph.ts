/**
 * Nodes and their owners: models with each kind of relation, each with the column of a scope, and
 * one that marks deleted rows; and the same models with keys of several columns.
 */
import {
  belongsTo,
  DbService,
  field,
  hasMany,
  hasOne,
  manyToMany,
  model,
} from "../../../src/db/mod.ts";

const OWNER = { name: field.text().nullable(), flag: field.boolean(), gone: field.deletedAt() };
const CARD = {
  name: field.text().nullable(),
  flag: field.boolean().map("flagged"),
  gone: field.deletedAt().map("flag"),
};
const NODE = {
  name: field.text().nullable().map("called"),
  rank: field.integer().nullable(),
  flag: field.boolean(),
  gone: field.deletedAt(),
};

const Owner = model("owners", { id: field.integer().primaryKey(), ...OWNER });
const Card = model("cards", {
  id: field.integer().primaryKey(),
  owner_id: field.integer().unique().references(Owner).map("of"),
  ...CARD,
}, { table: "nodes", schema: "cards" });
const Node = model("nodes", {
  id: field.integer().primaryKey(),
  parent_id: field.integer().nullable().references("self").map("owner_id"),
  owner_id: field.integer().nullable().references(Owner).map("parent_id"),
  ...NODE,
});
const Link = model("links", {
  id: field.integer().primaryKey().map("link_id"),
  node_id: field.integer().references(Node),
  owner_id: field.integer().references(Owner),
  ...OWNER,
});

/** A database of nodes. */
export class Graph extends DbService.with({ owner: Owner, card: Card, node: Node, link: Link }, {
  owner: {
    nodes: hasMany(Node.owner_id),
    card: hasOne(Card.owner_id),
    liked: manyToMany(Link.owner_id, Link.node_id),
  },
  card: { owner: belongsTo(Card.owner_id) },
  node: {
    parent: belongsTo(Node.parent_id),
    children: hasMany(Node.parent_id),
    owner: belongsTo(Node.owner_id),
    fans: manyToMany(Link.node_id, Link.owner_id),
    links: hasMany(Link.node_id),
  },
  link: { node: belongsTo(Link.node_id), owner: belongsTo(Link.owner_id) },
}) {}

/** The columns of the primary key of each model. */
export type PrimaryKeys = Readonly<Record<Kind, readonly string[]>>;

/** Those of a graph. */
export const PRIMARY_KEYS: PrimaryKeys = {
  owner: ["id"],
  card: ["id"],
  node: ["id"],
  link: ["id"],
};

/** Those of a keyed graph. */
export const COMPOSITE_KEYS: PrimaryKeys = {
  owner: ["flag", "id"],
  card: ["flag", "owner_id"],
  node: ["flag", "id"],
  link: ["owner_id", "id"],
};

const KeyedOwner = model("owners", { id: field.integer().unique(), ...OWNER }, {
  primaryKey: ["flag", "id"],
});
const OF_OWNER = { column: "id" } as const;
const KeyedCard = model("cards", {
  id: field.integer(),
  owner_id: field.integer().unique().references(KeyedOwner, OF_OWNER).map("of"),
  ...CARD,
}, { table: "nodes", schema: "cards", primaryKey: ["flag", "owner_id"] });
const KeyedNode = model("nodes", {
  id: field.integer().unique(),
  parent_id: field.integer().nullable().references("self", { column: "id" }).map("owner_id"),
  owner_id: field.integer().nullable().references(KeyedOwner, OF_OWNER).map("parent_id"),
  ...NODE,
}, { primaryKey: ["flag", "id"], unique: [["id", "name"]], index: [["name", "rank"]] });
const KeyedLink = model("links", {
  id: field.integer().map("link_id"),
  node_id: field.integer().references(KeyedNode, { column: "id" }),
  owner_id: field.integer().references(KeyedOwner, OF_OWNER),
  ...OWNER,
}, { primaryKey: ["owner_id", "id"], index: [["node_id", "owner_id"]] });

/** The same, whose primary keys have several columns, and whose references are to unique ones. */
export class KeyedGraph extends DbService.with(
  { owner: KeyedOwner, card: KeyedCard, node: KeyedNode, link: KeyedLink },
  {
    owner: {
      nodes: hasMany(KeyedNode.owner_id),
      card: hasOne(KeyedCard.owner_id),
      liked: manyToMany(KeyedLink.owner_id, KeyedLink.node_id),
    },
    card: { owner: belongsTo(KeyedCard.owner_id) },
    node: {
      parent: belongsTo(KeyedNode.parent_id),
      children: hasMany(KeyedNode.parent_id),
      owner: belongsTo(KeyedNode.owner_id),
      fans: manyToMany(KeyedLink.node_id, KeyedLink.owner_id),
      links: hasMany(KeyedLink.node_id),
    },
    link: { node: belongsTo(KeyedLink.node_id), owner: belongsTo(KeyedLink.owner_id) },
  },
) {}

/** The name of a model. */
export type Kind = "owner" | "card" | "node" | "link";

/** A relation: the model of its rows, and whether they are many. */
export interface Edge {
  readonly to: Kind;
  readonly isMany: boolean;
}

/** The relations of each model. */
export const EDGES: Readonly<Record<Kind, Readonly<Record<string, Edge>>>> = {
  owner: { nodes: many("node"), card: one("card"), liked: many("node") },
  card: { owner: one("owner") },
  node: {
    parent: one("node"),
    children: many("node"),
    owner: one("owner"),
    fans: many("owner"),
    links: many("link"),
  },
  link: { node: one("node"), owner: one("owner") },
};

function many(to: Kind): Edge {
  return { to, isMany: true };
}

function one(to: Kind): Edge {
  return { to, isMany: false };
}
