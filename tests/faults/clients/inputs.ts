/** Input that costs a server much, or changes what it should not. */
import { Buffer } from "node:buffer";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { CLOSED, type HostileRequest } from "./hostile_request.ts";

/** A request with a body, or without one. */
interface Row {
  readonly target: string;
  readonly method?: string;
  readonly lines?: readonly string[];
  /** In latin1. */
  readonly body?: string;
  readonly may: readonly number[];
}

const JSON_TYPE = "Content-Type: application/json";
const FORM = "Content-Type: application/x-www-form-urlencoded";
const MULTIPART = "Content-Type: multipart/form-data; boundary=x";
const MIB = 1024 * 1024;
/** Compressed to a thousandth. */
const ZEROS = Buffer.alloc(64 * MIB);
const TOO_LONG = [400, 413, 431, CLOSED];
const POLLUTING = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';

const ROWS: Readonly<Record<string, Row>> = {
  "10 000 parameters": {
    target: `/input/query?${numbered(10_000, (n) => `a${n}=${n}`, "&")}`,
    may: [200, 414, ...TOO_LONG],
  },
  "6 000 empty parameters": { target: `/input/query?${"a&".repeat(6_000)}`, may: [200] },
  "prototypes in a query": {
    target: "/input/query?__proto__[polluted]=1&__proto__=1&constructor.prototype.polluted=1",
    may: [200, 422],
  },
  "a prototype in a path": { target: "/input/path/__proto__", may: [200] },
  "prototypes in fields": {
    target: "/open",
    lines: ["__proto__: polluted", "constructor: x", "hasOwnProperty: x", "toString: x"],
    may: [200],
  },
  "JSON with prototypes": json(POLLUTING, [200, 422]),
  "JSON with prototypes in a list": json(`[${POLLUTING},${POLLUTING}]`, [200, 422]),
  "JSON of 100 000 levels": json("[".repeat(100_000) + "]".repeat(100_000), [400]),
  "JSON of 100 000 levels, unfinished": json('{"a":'.repeat(100_000), [400]),
  "JSON of 1 MiB of lists": json(`[${"[],".repeat(340_000)}[]]`, [413]),
  "JSON of 1 MiB of numbers": json(`[${"0,".repeat(500_000)}0]`, [413]),
  "JSON of 100 000 keys": json(`{${numbered(100_000, (n) => `"${n}":0`, ",")}}`, [413]),
  "JSON of 10 000 keys": json(`{${numbered(10_000, (n) => `"${n}":0`, ",")}}`, [200]),
  "JSON of the same key 10 000 times": json(`{${'"a":0,'.repeat(10_000)}"a":0}`, [200]),
  "JSON of 1 MiB of escapes": json(`"${"\\u0000".repeat(170_000)}"`, [200]),
  "JSON of 1 MiB of backslashes": json(`"${"\\\\".repeat(500_000)}"`, [200]),
  "JSON of 1 MiB of digits": json("1".repeat(1_000_000), [200]),
  "JSON of half a surrogate": json('"\\ud800"', [200]),
  "JSON that is no UTF-8": json('"\xff"', [400]),
  "JSON after a byte order mark": json('\xef\xbb\xbf{"a":1}', [200, 400]),
  // a connection that is closed while its client sends is reset: the 413 may be lost with it
  "JSON of 2 MiB": json(`"${"a".repeat(2 * MIB)}"`, [413, CLOSED]),
  "a form of 10 000 parameters": form(numbered(10_000, (n) => `a${n}=${n}`, "&"), [413]),
  "a form of 1 MiB of ampersands": form("&".repeat(MIB), [413]),
  "a form of 1 MiB of equals signs": form("=".repeat(MIB), [200, 400]),
  "a form of 1 MiB of percent signs": form("%".repeat(MIB), [200, 400]),
  "a form with prototypes": form("__proto__=1&__proto__[polluted]=1&constructor=1", [200, 422]),
  "10 000 parts": multipart(numbered(10_000, (n) => partOf(`a${n}`), ""), [413]),
  "a part of 10 000 fields": multipart(
    `--x\r\n${"A: b\r\n".repeat(10_000)}Content-Disposition: form-data; name=a\r\n\r\nb\r\n`,
    [200, 400, 413],
  ),
  "a part with a name of 1 MB": multipart(partOf("a".repeat(1_000_000)), [200, 400, 413]),
  "parts with prototypes": multipart(partOf("__proto__") + partOf("constructor"), [200, 422]),
  "parts without an end": {
    ...multipart("", [400, 413]),
    body: partOf("a").repeat(900),
  },
  "1 MiB of dashes as parts": { ...multipart("", [400, 413]), body: "-".repeat(MIB) },
  "a boundary of 8 000 letters": {
    target: "/input/form",
    lines: [`Content-Type: multipart/form-data; boundary=${"x".repeat(8_000)}`],
    body: "x",
    may: [400],
  },
  "gzip of 64 MiB as JSON": compressed("/input/json", "gzip", JSON_TYPE),
  "brotli of 64 MiB as JSON": compressed("/input/json", "br", JSON_TYPE),
  "gzip of 64 MiB as a form": compressed("/input/form", "gzip", FORM),
  "an unknown coding": {
    ...json("{}", [415]),
    lines: [JSON_TYPE, "Content-Encoding: x"],
  },
  "8 000 commas in Accept": fields(`Accept: ${",".repeat(8_000)}`),
  "2 000 ranges": fields(`Range: bytes=${numbered(2_000, (n) => `${n}-`, ",")}`),
  "4 000 entity tags": fields(`If-None-Match: ${'"",'.repeat(2_600)}`),
  "8 000 semicolons in Cookie": fields(`Cookie: ${";".repeat(8_000)}`),
  "1 000 forwarded addresses": fields(`X-Forwarded-For: ${"1.2.3.4,".repeat(1_000)}`),
  "a forwarded address that is none": fields(`X-Forwarded-For: ${":".repeat(8_000)}`),
  "8 000 letters of a request id": fields(`X-Request-Id: ${"a".repeat(8_000)}`),
  "8 000 spaces in a type": {
    target: "/input/json",
    lines: [`Content-Type: application/json${" ".repeat(8_000)};a`],
    body: "{}",
    may: [200, 415],
  },
  "8 000 semicolons in a type": {
    target: "/input/form",
    lines: [`Content-Type: multipart/form-data${";boundary".repeat(880)}`],
    body: "{}",
    may: [400, 415],
  },
  "80 fields of the same name": {
    target: "/open",
    lines: Array(80).fill("X-A: b"),
    may: [200],
  },
  "10 000 fields": {
    target: "/open",
    lines: Array.from({ length: 10_000 }, (_, n) => `X-${n}: b`),
    may: TOO_LONG,
  },
  "a field of 1 MB": { target: "/open", lines: [`X: ${"a".repeat(1_000_000)}`], may: TOO_LONG },
};

/** All of them. */
export const INPUTS: readonly HostileRequest[] = Object.entries(ROWS).map((
  [what, { target, lines = [], body, method = body === undefined ? "GET" : "POST", may }],
) => ({
  what,
  may,
  bytes: [
    `${method} ${target} HTTP/1.1`,
    "Host: x",
    ...lines,
    ...body === undefined ? [] : [`Content-Length: ${body.length}`],
    "",
    body ?? "",
  ].join("\r\n"),
}));

function json(body: string, may: readonly number[]): Row {
  return { target: "/input/json", lines: [JSON_TYPE], body, may };
}

function form(body: string, may: readonly number[]): Row {
  return { target: "/input/form", lines: [FORM], body, may };
}

function multipart(parts: string, may: readonly number[]): Row {
  return { target: "/input/form", lines: [MULTIPART], body: `${parts}--x--\r\n`, may };
}

function partOf(name: string): string {
  return `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\nb\r\n`;
}

/** A body that is decoded by nobody. */
function compressed(target: string, encoding: "gzip" | "br", type: string): Row {
  const body = encoding === "gzip" ? gzipSync(ZEROS) : brotliCompressSync(ZEROS);
  const lines = [type, `Content-Encoding: ${encoding}`];
  return { target, lines, body: body.toString("latin1"), may: [415] };
}

function fields(line: string): Row {
  return { target: "/input/limited", lines: [line], may: [200, 400, 429] };
}

function numbered(count: number, write: (n: number) => string, separator: string): string {
  return Array.from({ length: count }, (_, n) => write(n)).join(separator);
}
