/**
 * Why a server cannot listen, in the same words on every runtime.
 *
 * @module
 */
import type { Address } from "./adapter.ts";
import { CertificateError } from "./certificate.ts";

/** Why a server cannot listen: `Failed` is any other reason. */
export type ListenErrorCode =
  | "AddressInUse"
  | "AddressNotAvailable"
  | "PermissionDenied"
  | "InvalidCertificate"
  | "Failed";

/** An error of {@linkcode serve}; its `cause` is the runtime's own. */
export class ListenError extends Error {
  /** The name of the class. */
  override readonly name = "ListenError";
  /** What is wrong. */
  readonly code: ListenErrorCode;

  /** Creates one from what the runtime threw. */
  constructor(address: Address, cause: unknown) {
    const { code, reason } = explain(cause);
    super(`Cannot listen on ${formatAddress(address)}: ${reason}`, { cause });
    this.code = code;
  }
}

/** Tells why a server cannot listen, from what the runtime threw. */
export function listenErrorCode(cause: unknown): ListenErrorCode {
  return explain(cause).code;
}

/** Writes an address as it stands in a URL, IPv6 in brackets, or the path of a Unix socket. */
export function formatAddress(address: Address): string {
  if ("path" in address) return address.path;
  const { hostname, port } = address;
  return hostname.includes(":") ? `[${hostname}]:${port}` : `${hostname}:${port}`;
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
      return { code: "PermissionDenied", reason: "the process may not use the address" };
    case "NotCapable":
      return { code: "PermissionDenied", reason: String(message) };
    default:
      return { code: "Failed", reason: String(message) };
  }
}
