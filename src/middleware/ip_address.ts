/**
 * Checks and normalises IP addresses without a runtime's own library, which is not on every edge.
 *
 * @module
 */

const OCTET = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const IPV4 = new RegExp(`^(?:::ffff:)?(${OCTET}(?:\\.${OCTET}){3})$`, "i");

/**
 * Gives an IP address in its canonical form, or `undefined` for anything else: dotted decimal for
 * IPv4 and for IPv6 that maps it (`::ffff:192.0.2.1`), RFC 5952 without a zone for other IPv6.
 */
export function parseIp(text: string): string | undefined {
  const ipv4 = IPV4.exec(text)?.[1];
  if (ipv4 !== undefined) return ipv4;
  // Bun's URL parser takes a single colon at the end, which no address has.
  const address = /^([\da-f:.]{0,43}(?:::|[\da-f]))(?:%[\w.-]+)?$/i.exec(text)?.[1];
  const canonical = address && URL.parse(`http://[${address}]`)?.hostname.slice(1, -1);
  return canonical ? unmapped(canonical) : undefined;
}

/**
 * Gives the network that one client controls: an IPv4 address itself, the /64 of an IPv6 address,
 * as every host has 2^64 of those to choose from. Takes what {@linkcode parseIp} gave.
 */
export function networkOf(ip: string): string {
  if (!ip.includes(":")) return ip;
  const [left, right] = ip.split("::").map((half) => half === "" ? [] : half.split(":"));
  const groups = [...left ?? [], ...zeros(8 - (left?.length ?? 0) - (right?.length ?? 0))];
  return `${groups.slice(0, 4).join(":")}::/64`;
}

function unmapped(ipv6: string): string {
  const [, high, low] = /^::ffff:([\da-f]+):([\da-f]+)$/.exec(ipv6) ?? [];
  if (high === undefined || low === undefined) return ipv6;
  return [high, low].flatMap((group) => {
    const word = parseInt(group, 16);
    return [word >> 8, word & 0xff];
  }).join(".");
}

function zeros(length: number): string[] {
  return new Array(length).fill("0");
}
