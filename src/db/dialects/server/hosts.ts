/**
 * The hosts that the URL of a database names.
 *
 * @module
 */

/** A server of a database; its port is empty for the standard one. */
export type Host = Pick<URL, "hostname" | "port">;

/** The scheme, user and password of a URL; its hosts; the rest. */
const PARTS = /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#@]+)(.*)$/s;

/**
 * Reads a URL that names one host or, with commas in between, several, each with a port of its own
 * (PostgreSQL manual, 34.1.1.2). Returns it with each of them; nothing if one is malformed.
 */
export function readHosts(url: string): readonly URL[] {
  const [, head, list, rest] = PARTS.exec(url) ?? [];
  const urls = list?.split(",").map((host) => head + host + rest) ?? [url];
  const read = urls.flatMap((each) => URL.parse(each) ?? []);
  return read.length === urls.length ? read : [];
}
