/** How a peer is started. */
import process from "node:process";

/** The databases of users. */
export const DATABASES = ["sqlite", "postgres"] as const;

/** A database of users. */
export type Database = typeof DATABASES[number];

/**
 * The application of a peer: bare routes, routes with tokens, the whole stack, many routes, many
 * controllers of five routes each, or users in a database.
 */
export type Mode = "plain" | "token" | "stack" | "routes" | "controllers" | Database;

/** What a peer starts with. */
export interface PeerOptions {
  readonly port: number;
  readonly mode: Mode;
  /** The number of routes in the mode `routes`. */
  readonly routes: number;
  /** The number of controllers in the mode `controllers`. */
  readonly controllers: number;
  /** Who issues the tokens, for whom, and the public keys, here and at an address. */
  readonly issuer: string;
  readonly audience: string;
  readonly jwks: { readonly keys: [JsonWebKey & { readonly kid: string }] };
  readonly jwksUrl: string;
  /** The URL of the database of users, and its path: the file of SQLite. */
  readonly databaseUrl: string;
  readonly databasePath: string;
}

const {
  PORT = "0",
  MODE = "plain",
  ROUTES = "0",
  CONTROLLERS = "0",
  ISSUER = "",
  AUDIENCE = "",
  JWKS,
  JWKS_URL = "",
  USERS_URL = "",
} = process.env;

/** The options of this process, from its environment. */
export const options: PeerOptions = {
  port: Number(PORT),
  mode: MODE as Mode,
  routes: Number(ROUTES),
  controllers: Number(CONTROLLERS),
  issuer: ISSUER,
  audience: AUDIENCE,
  jwks: JSON.parse(JWKS ?? '{"keys":[]}'),
  jwksUrl: JWKS_URL,
  databaseUrl: USERS_URL,
  databasePath: USERS_URL && new URL(USERS_URL).pathname,
};

/** Checks whether a mode has a database of users. */
export function hasDatabase(mode: Mode): mode is Database {
  return DATABASES.some((database) => database === mode);
}

/** A limit that no contest reaches, so that only its count is measured. */
export const RATE_LIMIT = 1_000_000_000;
/** The window of the limit in milliseconds. */
export const RATE_WINDOW_MS = 3_600_000;
