/** What the peers are asked, and what they must answer. */
import { LARGE_ORDER, receipt, sentRows, SMALL_ORDER, TEXT } from "./fixtures.ts";
import type { Database, Mode } from "./peers/options.ts";
import { ROWS, sentUsers } from "./users_database.ts";

/** One kind of request. */
export interface Contest {
  readonly name: string;
  /** Which application of a peer answers it. */
  readonly mode: Mode;
  readonly method: "GET" | "POST";
  readonly path: string;
  /** The paths of a load, in turn: `path` by default. */
  readonly paths?: readonly string[];
  readonly body?: string;
  /** Whether it carries a bearer token. */
  readonly withToken?: boolean;
  readonly status: number;
  /** The body to receive: a text, or what JSON encodes. */
  readonly expected: unknown;
  /** The member of the answer, beside those expected, whose number the database generates. */
  readonly generated?: string;
}

const ITEM = "/items/42?limit=20&sort=name";
const FOUND = { id: 42, limit: 20, sort: "name" };

/** The contests. */
export const CONTESTS: readonly [Contest, ...Contest[]] = [
  get("GET text", "/text", TEXT),
  get("GET JSON", "/json", { message: TEXT }),
  get("GET validated", ITEM, FOUND),
  post("POST 195 B validated", SMALL_ORDER),
  post("POST 10 KB validated", LARGE_ORDER),
  get("20 rows", "/rows/20", sentRows(20)),
  get("1000 rows", "/rows/1000", sentRows(1000)),
  { ...get("bearer token again", "/me", { subject: "alice" }), mode: "token", withToken: true },
  { ...get("whole stack", ITEM, FOUND), mode: "stack", withToken: true },
];

/** The contests of users in a database. */
export const CRUD_CONTESTS: readonly Contest[] = [
  ...crud("sqlite", "SQLite"),
  ...crud("postgres", "PostgreSQL"),
];

function crud(mode: Database, name: string): readonly Contest[] {
  const users = sentUsers(20);
  const user = { email: "alice@example.com", name: "Alice Liddell" };
  const paths = Array.from({ length: ROWS }, (_, index) => `/users/${index + 1}`);
  return [
    { ...get(`${name}: a user`, "/users/1", users[0]), mode, paths },
    { ...get(`${name}: 20 users`, "/users?take=20", users), mode },
    {
      name: `${name}: create`,
      mode,
      method: "POST",
      path: "/users",
      body: JSON.stringify(user),
      status: 201,
      expected: { ...user, active: true },
      generated: "id",
    },
  ];
}

function get(name: string, path: string, expected: unknown): Contest {
  return { name, mode: "plain", method: "GET", path, status: 200, expected };
}

function post(name: string, order: Parameters<typeof receipt>[0]): Contest {
  return {
    name,
    mode: "plain",
    method: "POST",
    path: "/orders",
    body: JSON.stringify(order),
    status: 201,
    expected: receipt(order),
  };
}
