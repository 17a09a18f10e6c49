/**
 * Which callers are of different tenants, and which columns have the tenant of a row.
 *
 * @module
 */
import type { Table } from "../../../db/query/table.ts";
import type { ProveCaller } from "../options.ts";
import type { SignedCaller, StartedApplication } from "../part.ts";

/** Whose a row is: the tenant's whose rows are kept from another, that other's, or no one's. */
export type Side = "owner" | "stranger" | "shared";

/** Two callers of different tenants: no answer to the stranger may depend on rows of the owner. */
export interface TenantPair {
  readonly owner: Tenant;
  readonly stranger: Tenant;
  /** The columns whose values differ: a table with one of them has rows of tenants. */
  readonly columns: ReadonlySet<string>;
}

/** The tenant of a caller. */
export interface Tenant {
  /** The name of the caller. */
  readonly name: string;
  /** The headers that identify it. */
  readonly headers: Readonly<Record<string, string>>;
  /** The claims that are columns, by the name of the column. */
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Tables of the databases of an application, by a key that is the same in each start of it. */
export type Tables = ReadonlyMap<string, Table>;

/** How many pairs are tried: each takes a second or more. */
const MAX_PAIRS = 6;

/** Members of callers that identify no tenant: those of tokens, and of profiles. */
const NO_TENANTS = [
  ...["roles", "scope", "scp", "headers"],
  ...["sub", "iss", "aud", "exp", "nbf", "iat", "jti", "azp", "client_id", "sid"], // RFC 7519, 9068
  // OpenID Connect Core 1.0, section 5.1
  ...["name", "given_name", "family_name", "middle_name", "nickname", "preferred_username"],
  ...["profile", "picture", "website", "email", "email_verified", "gender", "birthdate"],
  ...["zoneinfo", "locale", "phone_number", "phone_number_verified", "address", "updated_at"],
];

/** Returns the tables of an application that have a key. */
export function tablesOf({ databases }: Pick<StartedApplication, "databases">): Tables {
  return new Map(databases.flatMap((database, i) =>
    // the service describes them as unknown, for its package has no type of theirs
    (database["~tables"] as readonly Table[]).filter(({ primaryKey }) => primaryKey.length > 0)
      .map((table) => [tableKey(i, table.name), table] as const)
  ));
}

/** Returns the key of a table: the index of its database, and its name. */
function tableKey(database: number, table: string): string {
  return `${database}:${table}`;
}

/** Returns the table that a column of another one refers to. */
export function referredTable(
  tables: Tables,
  { key, column: { field, table } }: {
    readonly key: string;
    readonly column: Pick<Table["columns"][number], "field" | "table">;
  },
): { readonly key: string; readonly column: string } | undefined {
  const { reference } = field.traits;
  if (!reference) return undefined;
  const { target } = reference;
  const name = target === "self" ? table : target["~model"].table;
  const referred = tableKey(Number(key.split(":")[0]), name);
  const column = reference.column ?? tables.get(referred)?.primaryKey[0]?.name;
  return column === undefined ? undefined : { key: referred, column };
}

/**
 * Returns pairs of callers that differ in a claim with the name of a column, one of each kind: the
 * callers of a kind have the same roles and scopes, and differ in the same claims from the owner.
 */
export function tenantPairs(
  declared: Readonly<Record<string, ProveCaller>>,
  { callers, tables }: { readonly callers: readonly SignedCaller[]; readonly tables: Tables },
): readonly TenantPair[] {
  const columns = new Set(
    [...tables.values()].flatMap((table) => table.columns.map(({ name }) => name)),
  );
  const tenants = callers.map(({ name, headers, roles, scopes }) => {
    const claims = Object.entries(declared[name] ?? {}).filter(([claim, value]) =>
      columns.has(claim) && !NO_TENANTS.includes(claim) &&
      ["string", "number", "bigint"].includes(typeof value)
    );
    const permissions = [...roles, "", ...scopes].join(" ");
    return { name, headers, permissions, claims: Object.fromEntries(claims) };
  });
  const pairs = new Map<string, TenantPair>();
  for (const stranger of tenants.toReversed()) {
    for (const owner of tenants) {
      const differing = Object.keys(owner.claims).filter((claim) =>
        claim in stranger.claims && String(stranger.claims[claim]) !== String(owner.claims[claim])
      );
      const kind = [stranger.permissions, ...differing.toSorted()].join("\0");
      if (differing.length === 0 || pairs.has(kind) || pairs.size === MAX_PAIRS) continue;
      pairs.set(kind, { owner, stranger, columns: new Set(differing) });
    }
  }
  return [...pairs.values()];
}

/** Returns the columns of a table by which its rows are of tenants; none for a shared table. */
export function tenantColumns(table: Table, { columns }: TenantPair): readonly string[] {
  return table.columns.map(({ name }) => name).filter((name) => columns.has(name));
}
