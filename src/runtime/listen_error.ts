/**
 * The errors of listening, with the same messages on every runtime.
 *
 * @module
 */
import type { Address, TlsOptions } from "./adapter.ts";

/** Why a server cannot listen: `Failed` is any other reason. */
export type ListenErrorCode =
  | "AddressInUse"
  | "AddressNotAvailable"
  | "PermissionDenied"
  | "InvalidCertificate"
  | "Failed";

/** An error of {@linkcode serve}; its `cause` is the error of the runtime. */
export class ListenError extends Error {
  /** The name of the class. */
  override readonly name = "ListenError";
  /** The reason. */
  readonly code: ListenErrorCode;

  /** Creates an error from that of the runtime. */
  constructor(address: Address, cause: unknown) {
    const { code, reason } = explain(cause);
    super(`Cannot listen on ${formatAddress(address)}: ${reason}`, { cause });
    this.code = code;
  }
}

/** Returns the reason of an error of the runtime. */
export function listenErrorCode(cause: unknown): ListenErrorCode {
  return explain(cause).code;
}

/** Formats an address as in a URL, with IPv6 in brackets, or as the path of a Unix socket. */
export function formatAddress(address: Address): string {
  if ("path" in address) return address.path;
  const { hostname, port } = address;
  return hostname.includes(":") ? `[${hostname}]:${port}` : `${hostname}:${port}`;
}

/** An invalid certificate or key. */
export class CertificateError extends Error {
  /** The name of the class. */
  override readonly name = "CertificateError";
}

/**
 * Checks that a certificate and a key are in PEM and belong together. Each runtime reports invalid
 * ones in its own way, or not at all.
 *
 * @throws {CertificateError} if they are not
 */
export async function checkCertificate({ cert, key }: TlsOptions): Promise<void> {
  const { createPrivateKey, X509Certificate } = await import("node:crypto");
  const certificate = parse(cert, {
    read: (pem) => new X509Certificate(pem),
    reason: "the certificate is not in PEM",
  });
  const privateKey = parse(key, {
    read: (pem) => createPrivateKey(pem),
    reason: "the key is not an unencrypted private key in PEM",
  });
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new CertificateError("the key does not belong to the certificate");
  }
}

function explain(cause: unknown): { code: ListenErrorCode; reason: string } {
  if (cause instanceof CertificateError) {
    return { code: "InvalidCertificate", reason: cause.message };
  }
  const { code, name, message } = cause as { code?: unknown; name?: unknown; message?: unknown };
  switch (code ?? name) {
    case "EADDRINUSE":
      return { code: "AddressInUse", reason: "the address is in use" };
    case "EADDRNOTAVAIL":
    case "EAFNOSUPPORT":
      return { code: "AddressNotAvailable", reason: "this machine does not have the address" };
    case "EACCES":
    case "EPERM":
      return {
        code: "PermissionDenied",
        reason: "the process has no permission to use the address",
      };
    case "NotCapable":
      return { code: "PermissionDenied", reason: String(message) };
    default:
      return { code: "Failed", reason: String(message) };
  }
}

function parse<T>(
  pem: unknown,
  { read, reason }: { readonly read: (pem: string) => T; readonly reason: string },
): T {
  if (typeof pem !== "string") throw new CertificateError(reason);
  try {
    return read(pem);
  } catch (cause) {
    throw new CertificateError(reason, { cause });
  }
}
