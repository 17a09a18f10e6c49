/**
 * Checking a certificate and its key before a server is made of them: each runtime would say
 * something else of bad ones, or nothing.
 *
 * @module
 */
import type { TlsOptions } from "./adapter.ts";

/** What is wrong with a certificate or its key. */
export class CertificateError extends Error {
  /** The name of the class. */
  override readonly name = "CertificateError";
}

/**
 * Checks that a certificate and a key are in PEM and belong together.
 *
 * @throws {CertificateError} if they are not
 */
export async function checkCertificate({ cert, key }: TlsOptions): Promise<void> {
  const { createPrivateKey, X509Certificate } = await import("node:crypto");
  const certificate = parse(cert, "certificate", (pem) => new X509Certificate(pem));
  const privateKey = parse(key, "key", (pem) => createPrivateKey(pem));
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new CertificateError("the key is not that of the certificate");
  }
}

function parse<T>(pem: unknown, what: "certificate" | "key", read: (pem: string) => T): T {
  const reason = what === "key"
    ? "the key is not an unencrypted private key in PEM"
    : "the certificate is not one in PEM";
  if (typeof pem !== "string") throw new CertificateError(reason);
  try {
    return read(pem);
  } catch (cause) {
    throw new CertificateError(reason, { cause });
  }
}
