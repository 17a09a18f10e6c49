/** Real database servers with TLS, each a process of its own with a temporary folder. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { findOnPath } from "../../../src/cli/system/programs.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { type OwnServer, run, SKIP_OWN, startOwnServer } from "./own_servers.ts";
import type { ServerBrand } from "./sessions.ts";

const OPENSSL = findOnPath("openssl");
const NO_OPENSSL = OPENSSL ? undefined : "no openssl: install openssl";

/** Why the tests with TLS are skipped, if they are. */
export const SKIP_TLS: Readonly<Record<ServerBrand, string | undefined>> = {
  postgres: SKIP_OWN.postgres ?? NO_OPENSSL,
  mysql: SKIP_OWN.mysql ?? NO_OPENSSL,
};

/** A running server, whose certificate has the name `localhost` and no address. */
export interface TlsServer extends Pick<OwnServer, "port">, AsyncDisposable {
  /** The file of the authority that signed its certificate. */
  readonly rootCert: string;
  /** The file of another authority. */
  readonly otherCert: string;
  /** Returns the path of a file with this text. */
  file(name: string, text: string): string;
}

/** What a server is like. */
export interface TlsServerOptions {
  /** The name in its certificate; default `localhost`. */
  readonly name?: string;
  /** Whether it has TLS; default `true`. */
  readonly hasTls?: boolean;
}

/** Starts a server that accepts plain connections too, of anybody. */
export async function startTlsServer(
  brand: ServerBrand,
  { name = "localhost", hasTls = true }: TlsServerOptions = {},
): Promise<TlsServer> {
  const folder = new TemporaryFolder();
  const at = (file: string) => join(folder.path, file);
  try {
    for (const ca of ["ca", "other"]) makeAuthority(at(ca));
    makeCertificate(at("server"), { ca: at("ca"), name });
    // PostgreSQL refuses a key of others, and MariaDB starts as root
    if (process.getuid?.() === 0) run(["chown", brand, at("server.key")]);
    chmodSync(at("server.key"), 0o600);
    const settings = tlsSettings(brand, { at, hasTls });
    const server = await startOwnServer(brand, { folder: folder.path, settings });
    return {
      port: server.port,
      rootCert: at("ca.pem"),
      otherCert: at("other.pem"),
      file(name, text) {
        writeFileSync(at(name), text);
        return at(name);
      },
      async [Symbol.asyncDispose]() {
        await server[Symbol.asyncDispose]();
        folder[Symbol.dispose]();
      },
    };
  } catch (error) {
    folder[Symbol.dispose]();
    throw error;
  }
}

function tlsSettings(
  brand: ServerBrand,
  { at, hasTls }: { readonly at: (file: string) => string; readonly hasTls: boolean },
): Readonly<Record<string, string>> {
  if (!hasTls) return {};
  if (brand === "postgres") {
    return { ssl: "on", ssl_cert_file: at("server.pem"), ssl_key_file: at("server.key") };
  }
  return { "ssl-ca": at("ca.pem"), "ssl-cert": at("server.pem"), "ssl-key": at("server.key") };
}

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

function makeAuthority(path: string): void {
  const files = ["-keyout", `${path}.key`, "-out", `${path}.pem`];
  run([OPENSSL!, "req", "-x509", ...NEW_KEY, ...files, "-subj", "/CN=fw tests", "-days", "2"]);
}

function makeCertificate(path: string, { ca, name }: { readonly ca: string; name: string }): void {
  const files = ["-keyout", `${path}.key`, "-out", `${path}.csr`];
  run([OPENSSL!, "req", ...NEW_KEY, ...files, "-subj", `/CN=${name}`]);
  writeFileSync(`${path}.ext`, `subjectAltName=DNS:${name}`);
  const signing = ["-CA", `${ca}.pem`, "-CAkey", `${ca}.key`, "-CAcreateserial", "-days", "2"];
  const request = ["-in", `${path}.csr`, "-extfile", `${path}.ext`, "-out", `${path}.pem`];
  run([OPENSSL!, "x509", "-req", ...signing, ...request]);
}
