/**
 * Checks of configured URLs.
 *
 * @module
 */
import { refuseOption } from "./refuse_option.ts";

/** Hosts of this machine, which need no TLS (RFC 8252 §8.3). */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Reads a URL of a server: https, or http to this machine; without fragment (RFC 6749 §3.1), user
 * name and password.
 *
 * @throws {OAuth2Error} `InvalidConfig` with the name of the option, never with the URL
 */
export function endpointUrl(name: string, url: string | URL): URL {
  const refuse = (why: string): never => refuseOption(name, why);
  const text = String(url);
  const parsed = URL.parse(text) ?? refuse("it is not an absolute URL");
  const isSafe = parsed.protocol === "https:" ||
    parsed.protocol === "http:" && LOOPBACK.test(parsed.hostname);
  if (!isSafe) refuse("it is neither https nor http to this machine");
  if (text.includes("#")) refuse("it has a fragment");
  if (parsed.username !== "" || parsed.password !== "") refuse("it has a user name or password");
  return parsed;
}
