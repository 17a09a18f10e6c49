/**
 * The URLs that an application is configured with.
 *
 * @module
 */
import { OAuth2Error } from "./errors.ts";

/** Hosts of this machine, with which TLS protects nothing (RFC 8252 §8.3). */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Reads a URL of a server: https, or http to this machine; without a fragment (RFC 6749 §3.1) and
 * without a user name or password.
 *
 * @throws {OAuth2Error} `InvalidConfig`, which names the URL by what it is for and never repeats it
 */
export function endpointUrl(name: string, url: string | URL): URL {
  const refuse = (why: string): never => {
    throw new OAuth2Error({ code: "InvalidConfig" }, `Cannot use ${name}: ${why}`);
  };
  const text = String(url);
  if (!URL.canParse(text)) refuse("it is no absolute URL");
  const parsed = new URL(text);
  const isSafe = parsed.protocol === "https:" ||
    parsed.protocol === "http:" && LOOPBACK.test(parsed.hostname);
  if (!isSafe) refuse("it is neither https nor http to this machine");
  if (text.includes("#")) refuse("it has a fragment");
  if (parsed.username !== "" || parsed.password !== "") refuse("it has a user name or password");
  return parsed;
}
