/**
 * Sends a webhook to addresses that were checked.
 *
 * @module
 */
import type { AgentOptions, IncomingMessage, RequestOptions } from "node:http";
import type { Socket } from "node:net";
import { within, withTimeLimit } from "../../platform/time_limit.ts";
import { type Address, addressesOf, TargetError, type TargetOptions } from "./target.ts";

/** A webhook to send. */
export interface Posting {
  /** The URL of the endpoint. */
  readonly url: URL;
  /** Its headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** Its body. */
  readonly body: Uint8Array;
}

/** Options of {@linkcode post}. */
export interface PostOptions extends TargetOptions {
  /** The time limit in milliseconds, including that of resolving the name. */
  readonly timeoutMs: number;
  /** Aborts the attempt. */
  readonly signal: AbortSignal;
}

/** The result of an attempt. */
export interface Posted {
  /** The status of the response; `null` without one. */
  readonly status: number | null;
  /** Why it has failed; `null` if the status is 2xx. */
  readonly error: string | null;
  /** How long it took, in milliseconds. */
  readonly durationMs: number;
}

/**
 * The largest part of a response that is read, its headers and interim responses included: the
 * connection is closed after it.
 */
const MAX_RESPONSE_BYTES = 65_536;
/** How long the body of a response is read, in milliseconds: its status is known. */
const DRAIN_MS = 1000;
/** The status of a change of the protocol, after which no response follows. */
const SWITCHING = 101;
const TOO_LONG = `no status in ${MAX_RESPONSE_BYTES} bytes`;

/**
 * Sends a webhook, without following redirects. A failed attempt is a result with an error.
 *
 * @throws the reason of `signal` if it is aborted
 */
export async function post(
  posting: Posting,
  { timeoutMs, signal, ...target }: PostOptions,
): Promise<Posted> {
  const startMs = performance.now();
  const aborter = new AbortController();
  const either = AbortSignal.any([aborter.signal, signal]);
  const end = (status: number | null, error: string | null) => ({
    status,
    error,
    durationMs: Math.round(performance.now() - startMs),
  });
  try {
    const status = await withTimeLimit(send(posting, { ...target, signal: either }), timeoutMs);
    return end(status, status >= 200 && status < 300 ? null : `the status is ${status}`);
  } catch (error) {
    signal.throwIfAborted(); // the run was aborted: the attempt has not failed
    return end(null, reasonOf(error, timeoutMs));
  } finally {
    aborter.abort();
  }
}

/** Sends a webhook, and returns the status of its response. */
async function send(
  { url, headers, body }: Posting,
  { signal, ...target }: TargetOptions & { readonly signal: AbortSignal },
): Promise<number> {
  const addresses = await addressesOf(url, target);
  const { Agent, request } =
    await (url.protocol === "https:" ? import("node:https") : import("node:http"));
  // without proxies of the environment, which Deno would use; not all types have the option
  const direct: AgentOptions & { readonly proxyEnv: object } = { proxyEnv: {} };
  const agent = new Agent(direct);
  const options = { method: "POST", headers, signal, agent, lookup: always(addresses) };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sending = request(url, options, resolve);
    sending.on("socket", limitReads).on("error", reject);
    // of a protocol that was not requested, nothing follows
    sending.on("upgrade", (response, socket) => {
      socket.destroy();
      resolve(response);
    });
    sending.end(body);
  });
  const { statusCode: status = 0 } = response;
  // without the header Upgrade, it is a response whose body does not end
  if (status === SWITCHING) response.destroy();
  else if (!await within(drain(response), DRAIN_MS)) response.destroy();
  return status;
}

/** Returns a `lookup` that resolves every name to these addresses. */
function always(addresses: readonly Address[]): NonNullable<RequestOptions["lookup"]> {
  const [first] = addresses;
  return (_host, { all }, callback) => {
    if (all) callback(null, [...addresses]);
    else callback(null, first!.address, first!.family); // there is at least one
  };
}

/** Closes a connection that has received more than the limit. */
function limitReads(socket: Socket): void {
  let bytes = 0;
  socket.on("data", (chunk: Uint8Array) => {
    bytes += chunk.byteLength;
    if (bytes > MAX_RESPONSE_BYTES) socket.destroy(new RangeError(TOO_LONG));
  });
}

/** Reads a response; the status counts, even if the body is cut off. */
async function drain(response: IncomingMessage): Promise<void> {
  try {
    for await (const _ of response);
  } catch {
    // the connection was closed
  } finally {
    response.destroy();
  }
}

function reasonOf(error: unknown, timeoutMs: number): string {
  if (error instanceof TargetError || error instanceof RangeError) return error.message;
  if (error instanceof DOMException && error.name === "TimeoutError") {
    return `no answer in ${timeoutMs} ms`;
  }
  const code: unknown = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === "string" ? `the connection failed: ${code}` : "the connection failed";
}
