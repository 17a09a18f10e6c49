/**
 * The options of TLS connections to database servers.
 *
 * @module
 */
import { DbError } from "../../errors.ts";

/** How connections are encrypted. */
export interface TlsSettings {
  /** Whether a server without TLS is used without it. */
  readonly isOptional: boolean;
  /** What to verify: nothing, the authority that signed the certificate, or its host too. */
  readonly verify: "nothing" | "chain" | "host";
  /** The file of the trusted authorities; by default, those of the runtime. */
  readonly rootCert?: string | undefined;
}

/** Options of `node:tls`. */
export interface TlsOptions {
  /** Whether a server whose certificate no trusted authority signed is refused. */
  readonly rejectUnauthorized: boolean;
  /** The certificates of the trusted authorities; by default, those of the runtime. */
  readonly ca?: string[];
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^]+?-----END CERTIFICATE-----/g;

/**
 * Reads the certificates of the trusted authorities.
 *
 * @throws {DbError} `Database` if the file cannot be read, or has no certificate
 */
export async function readTlsOptions({ verify, rootCert }: TlsSettings): Promise<TlsOptions> {
  const rejectUnauthorized = verify !== "nothing";
  if (rootCert === undefined) return { rejectUnauthorized };
  const ca = [...(await readText(rootCert)).matchAll(CERTIFICATE)].map(([text]) => text);
  const { X509Certificate } = await import("node:crypto");
  try {
    if (ca.length === 0) throw new TypeError("no PEM block of a certificate");
    for (const text of ca) new X509Certificate(text);
  } catch (cause) {
    throw unusable(`${rootCert} is not a certificate`, cause);
  }
  return { rejectUnauthorized, ca };
}

async function readText(path: string): Promise<string> {
  const { readFile } = await import("node:fs/promises");
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw unusable(`${path} cannot be read`, cause);
  }
}

function unusable(reason: string, cause: unknown): DbError {
  return new DbError("Database", `Cannot open database: the root certificate ${reason}`, { cause });
}
