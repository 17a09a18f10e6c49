/**
 * The parameters of the URL of a database server.
 *
 * @module
 */
import { MAX_DELAY_MS } from "../../../platform/time_limit.ts";
import type { TlsSettings } from "./tls.ts";

/** What the parameters of a URL configure besides the pool. */
export interface ServerSettings {
  /** How connections are encrypted; by default, they are not. */
  readonly tls?: TlsSettings | undefined;
  /** PostgreSQL's `application_name`. */
  readonly applicationName?: string | undefined;
  /** PostgreSQL's command-line options of the session. */
  readonly options?: string | undefined;
  /** The schema that must be PostgreSQL's current one. */
  readonly schema?: string | undefined;
  /** The kind of server to accept, as libpq's `target_session_attrs`. */
  readonly targetSession?:
    | "read-write"
    | "read-only"
    | "primary"
    | "standby"
    | "prefer-standby"
    | undefined;
}

/** The brand of a server. */
export type ServerBrand = "PostgreSQL" | "MySQL";
type TlsMode = "disable" | "prefer" | "require" | "verify-ca" | "verify-full";

/** The parameters as they are read, each under what it configures. */
export interface UrlParameters extends Omit<ServerSettings, "tls"> {
  mode?: TlsMode;
  /** Whether the certificate must be valid. */
  isStrict?: boolean;
  rootCert?: string;
  bindsChannel?: boolean;
  max?: number;
  acquireTimeoutMs?: number;
  connectTimeoutMs?: number;
  prepare?: boolean;
}

/** Reads the value of a parameter, or returns its defect. */
type Read = (value: string) => Partial<UrlParameters> | string;

const BOOLEAN = { true: true, false: false };
/** As libpq spells them. PostgreSQL's `allow` prefers no encryption, so `prefer` is safer. */
const LIBPQ_MODES = {
  disable: "disable",
  allow: "prefer",
  prefer: "prefer",
  require: "require",
  "verify-ca": "verify-ca",
  "verify-full": "verify-full",
} as const;
const MYSQL_MODES = {
  DISABLED: "disable",
  PREFERRED: "prefer",
  REQUIRED: "require",
  VERIFY_CA: "verify-ca",
  VERIFY_IDENTITY: "verify-full",
} as const;
/** As drivers and hosts of databases spell them. */
const DRIVER_MODES = {
  true: "verify-full",
  false: "disable",
  '{"rejectUnauthorized":true}': "verify-full",
  '{"rejectUnauthorized":false}': "require",
} as const;

const ignored: Read = () => ({});
const clientCertificate = refused("is not supported: clients have no certificates");

const BOTH: Readonly<Record<string, Read>> = {
  sslmode: oneOf("mode", LIBPQ_MODES),
  "ssl-mode": (value) => oneOf("mode", MYSQL_MODES)(value.toUpperCase()),
  ssl: (value) => oneOf("mode", DRIVER_MODES)(value.replaceAll(" ", "")),
  sslaccept: oneOf("isStrict", { strict: true, accept_invalid_certs: false }),
  sslrootcert: text("rootCert"),
  "ssl-ca": text("rootCert"),
  sslcert: clientCertificate,
  "ssl-cert": clientCertificate,
  sslkey: clientCertificate,
  "ssl-key": clientCertificate,
  sslidentity: clientCertificate,
  sslpassword: clientCertificate,
  sslcrl: refused("is not supported: no revocation list is read"),
  connection_limit: whole("max", { least: 1 }),
  pool_timeout: seconds("acquireTimeoutMs"),
  connect_timeout: seconds("connectTimeoutMs"),
  socket_timeout: ignored,
  max_connection_lifetime: ignored,
  max_idle_connection_lifetime: ignored,
};

const OF_BRAND: Readonly<Record<ServerBrand, Readonly<Record<string, Read>>>> = {
  PostgreSQL: {
    prepare: oneOf("prepare", BOOLEAN),
    pgbouncer: oneOf("prepare", { true: false, false: undefined }),
    statement_cache_size: (value) => value === "0" ? { prepare: false } : {},
    schema: text("schema"),
    application_name: text("applicationName"),
    options: text("options"),
    target_session_attrs: oneOf("targetSession", {
      any: undefined,
      "read-write": "read-write",
      "read-only": "read-only",
      primary: "primary",
      standby: "standby",
      "prefer-standby": "prefer-standby",
    }),
    channel_binding: oneOf("bindsChannel", {
      disable: undefined,
      prefer: undefined,
      require: true,
    }),
    gssencmode: only("disable", "prefer"),
    sslnegotiation: only("postgres"),
    client_encoding: only("utf8", "UTF8", "auto"),
    fallback_application_name: ignored,
    keepalives: ignored,
    keepalives_idle: ignored,
    keepalives_interval: ignored,
    keepalives_count: ignored,
    tcp_user_timeout: ignored,
    sslsni: ignored,
    supa: ignored,
    uselibpqcompat: ignored,
    workaround: ignored,
  },
  MySQL: {
    connectionLimit: whole("max", { least: 1 }),
    statement_cache_size: ignored,
    charset: only("utf8", "utf8mb4"),
  },
};

/** Why a URL cannot be read. */
export const MALFORMED =
  "it is malformed; in a password, percent-encode everything but letters and digits";

/**
 * Reads the parameters of a server's URL.
 *
 * @throws {TypeError} if one is unknown, invalid or contradicts another
 */
export function readParameters({ searchParams }: URL, brand: ServerBrand): UrlParameters {
  const found: UrlParameters = {};
  const sources = new Map<string, string>();
  const known = { ...BOTH, ...OF_BRAND[brand] };
  // Not the values: one of them may be a secret.
  for (const name of searchParams.keys()) {
    if (!/^[\w-]+$/.test(name)) throw invalid(MALFORMED);
    if (!Object.hasOwn(known, name)) throw invalid(`its parameter ${name} is unknown`);
  }
  for (const [name, value] of searchParams) {
    const read = known[name]!(value);
    if (typeof read === "string") throw invalid(`${name} ${read}`);
    for (const [key, setting] of Object.entries(withoutUndefined(read))) {
      const source = sources.get(key);
      if (source !== undefined && found[key as keyof UrlParameters] !== setting) {
        throw invalid(`${source} and ${name} contradict each other`);
      }
      sources.set(key, name);
      Object.assign(found, { [key]: setting });
    }
  }
  return found;
}

function oneOf(
  key: keyof UrlParameters,
  values: Readonly<Record<string, UrlParameters[keyof UrlParameters]>>,
): Read {
  return (value) =>
    Object.hasOwn(values, value)
      ? { [key]: values[value] }
      : `is not one of ${Object.keys(values).join(", ")}`;
}

/** Ignores a parameter with a value that makes no difference. */
function only(...values: readonly string[]): Read {
  return oneOf("mode", Object.fromEntries(values.map((value) => [value, undefined])));
}

function text(key: keyof UrlParameters): Read {
  return (value) => value === "" ? "is empty" : { [key]: value };
}

function whole(
  key: keyof UrlParameters,
  { least, most = MAX_DELAY_MS }: { readonly least: number; readonly most?: number },
): Read {
  return (value) =>
    /^\d+$/.test(value) && Number(value) >= least && Number(value) <= most
      ? { [key]: Number(value) }
      : `is not a whole number of ${least} to ${most}`;
}

/** Reads a time limit in seconds; 0 means no limit. */
function seconds(key: keyof UrlParameters): Read {
  const read = whole(key, { least: 0, most: Math.floor(MAX_DELAY_MS / 1000) });
  return (value) => {
    const found = read(value);
    return typeof found === "string" ? found : { [key]: Number(value) * 1000 || MAX_DELAY_MS };
  };
}

function refused(reason: string): Read {
  return () => reason;
}

/** Returns the members that are not `undefined`. */
export function withoutUndefined<T extends object>(values: T): Partial<T> {
  const set = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(set) as Partial<T>;
}

/** Returns the error of a URL. */
export function invalid(reason: string): TypeError {
  return new TypeError(`Cannot read database URL: ${reason}`);
}
