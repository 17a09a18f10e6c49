/**
 * Encrypts a connection to PostgreSQL.
 *
 * @module
 */
import type { Socket } from "node:net";
import type { TlsOptions, TlsSettings } from "../server/tls.ts";
import { lostConnection } from "./postgres_errors.ts";

/** How a connection is encrypted. */
export interface PostgresTls {
  readonly tls: Pick<typeof import("node:tls"), "connect" | "checkServerIdentity">;
  readonly settings: TlsSettings;
  readonly options: TlsOptions;
  /** How long the server may take to answer, in milliseconds. */
  readonly timeoutMs: number;
}

const TLS_REQUEST = Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 47);
const YES = "S";
const NO = "N";

/**
 * Requests TLS (PostgreSQL manual, 54.2.10), and verifies the certificate before anything else is
 * sent. The driver would continue after a refusal, and read what was sent before the encryption.
 */
export async function startTls(
  socket: Socket,
  { tls, settings, options, timeoutMs, host, isAddress }: PostgresTls & {
    readonly host: string;
    readonly isAddress: boolean;
  },
): Promise<Socket> {
  socket.setTimeout(timeoutMs, () => socket.destroy(tlsError("connecting took too long")));
  socket.write(TLS_REQUEST);
  const answer = String(await next<Uint8Array>(socket, "data"));
  if (answer === NO && settings.isOptional) return socket.setTimeout(0);
  if (answer === NO) throw tlsError("the server has no TLS");
  if (answer !== YES) throw tlsError("the server does not answer the request for TLS");
  const { checkServerIdentity } = tls;
  const secured = tls.connect({
    ...options,
    socket,
    host,
    // RFC 6066, section 3: addresses are no server names.
    ...!isAddress && { servername: host },
    checkServerIdentity: (_, certificate) =>
      settings.verify === "host" ? checkServerIdentity(host, certificate) : undefined,
  });
  await next(secured, "secureConnect");
  socket.setTimeout(0);
  return secured;
}

/** Waits for an event of a socket. */
function next<T>(socket: Socket, event: "data" | "secureConnect"): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = (error?: Error) => reject(error ?? lostConnection());
    const closed = () => fail();
    socket.once("error", fail).once("close", closed).once(event, (value: T) => {
      socket.off("error", fail).off("close", closed);
      resolve(value);
    });
  });
}

function tlsError(reason: string): Error {
  return Object.assign(new Error(reason), { code: "CONNECT_TLS" });
}
