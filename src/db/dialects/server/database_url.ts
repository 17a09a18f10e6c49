/**
 * The URL of a database server.
 *
 * @module
 */
import type { OpenOptions } from "../../connection/pool_limits.ts";
import { type Host, readHosts } from "./hosts.ts";
import type { TlsSettings } from "./tls.ts";
import {
  invalid,
  MALFORMED,
  readParameters,
  type ServerBrand,
  type ServerSettings,
  type UrlParameters,
  withoutUndefined,
} from "./url_parameters.ts";

/** A database server, without its parameters; and what they configure. */
export interface DatabaseUrl {
  /** The server, the first if there are several. */
  readonly server: URL;
  /** All servers; one with MySQL. */
  readonly hosts: readonly Host[];
  readonly settings: ServerSettings;
  readonly opening: Partial<OpenOptions>;
}

/**
 * Reads the URL of a server. No error repeats a part of it that may be a password.
 *
 * @throws {TypeError} if it is malformed, or a parameter is unknown, invalid or contradicts another
 */
export function readServerUrl(url: string, brand: ServerBrand): DatabaseUrl {
  const hosts = readHosts(url);
  const [server] = hosts;
  if (!server) throw invalid(MALFORMED);
  if (server.hostname === "") throw invalid("it names no host");
  if (brand === "MySQL" && hosts[1]) throw invalid("it names several hosts");
  if (server.pathname.length < 2) throw invalid("it names no database");
  // The rest of a password with these characters would be read as something else.
  const { pathname, hash, search, username, password } = server;
  if (/[/@]/.test(pathname.slice(1)) || hash !== "" || search.includes("@")) {
    throw invalid(MALFORMED);
  }
  if (![pathname, username, password].every(canDecode)) throw invalid(MALFORMED);
  const { mode, isStrict, rootCert, bindsChannel, ...others } = readParameters(server, brand);
  const tls = tlsSettings({ mode, isStrict, rootCert, bindsChannel });
  if (brand === "MySQL" && tls?.verify === "host" && isAddress(server.hostname)) {
    // The driver would compare the certificate with the name "localhost".
    throw invalid("the certificate of an address is not verified, so use the name of the host");
  }
  server.search = "";
  const { max, acquireTimeoutMs, connectTimeoutMs, prepare, ...settings } = others;
  const opening = { max, acquireTimeoutMs, connectTimeoutMs, prepare };
  return { server, hosts, settings: { ...settings, tls }, opening: withoutUndefined(opening) };
}

/** Combines the parameters about TLS to the strictest of what they ask for. */
function tlsSettings(
  { mode, isStrict, rootCert, bindsChannel }: {
    readonly [Key in "mode" | "isStrict" | "rootCert" | "bindsChannel"]: UrlParameters[Key];
  },
): TlsSettings | undefined {
  if (rootCert === "system" && mode !== undefined && mode !== "verify-full") {
    throw invalid("sslrootcert=system is for the mode verify-full only");
  }
  const verifies = mode === "verify-ca" || mode === "verify-full" || rootCert !== undefined;
  if (verifies && isStrict === false && mode !== "disable") {
    throw invalid("sslaccept=accept_invalid_certs contradicts that the certificate is verified");
  }
  if (mode === "disable") {
    if (isStrict) throw invalid("sslaccept=strict contradicts that TLS is disabled");
    if (bindsChannel) throw invalid("channel_binding=require contradicts that TLS is disabled");
    if (rootCert !== undefined) throw invalid("sslrootcert contradicts that TLS is disabled");
    return undefined;
  }
  const asked = mode ?? isStrict ?? rootCert ?? bindsChannel;
  if (asked === undefined) return undefined;
  // The driver cannot bind the channel: the certificate proves who answers instead.
  const verifiesHost = mode === "verify-full" || isStrict || bindsChannel ||
    rootCert === "system";
  return {
    isOptional: mode === "prefer" && !verifies && !verifiesHost,
    verify: verifiesHost ? "host" : verifies ? "chain" : "nothing",
    rootCert: rootCert === "system" ? undefined : rootCert,
  };
}

function canDecode(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function isAddress(hostname: string): boolean {
  return hostname.startsWith("[") || /^[\d.]+$/.test(hostname);
}
