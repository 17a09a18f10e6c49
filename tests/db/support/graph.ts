/**
 * Nodes and their owners: models with each kind of relation, each with the column of a scope, and
 * one that marks deleted rows.
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

const Owner = model("owners", {
  id: field.integer().primaryKey(),
  name: field.text().nullable(),
  flag: field.boolean(),
  gone: field.deletedAt(),
});
const Card = model("cards", {
  id: field.integer().primaryKey(),
  owner_id: field.integer().unique().references(Owner).map("of"),
  name: field.text().nullable(),
  flag: field.boolean().map("flagged"),
  gone: field.deletedAt().map("flag"),
}, { table: "nodes", schema: "cards" });
const Node = model("nodes", {
  id: field.integer().primaryKey(),
  parent_id: field.integer().nullable().references("self").map("owner_id"),
  owner_id: field.integer().nullable().references(Owner).map("parent_id"),
  name: field.text().nullable().map("called"),
  rank: field.integer().nullable(),
  flag: field.boolean(),
  gone: field.deletedAt(),
});
const Link = model("links", {
  id: field.integer().primaryKey().map("link_id"),
  node_id: field.integer().references(Node),
  owner_id: field.integer().references(Owner),
  name: field.text().nullable(),
  flag: field.boolean(),
  gone: field.deletedAt(),
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
