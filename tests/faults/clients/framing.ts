/** Heads and bodies whose end two servers could see in different places, with a request behind. */
import { CLOSED, type HostileRequest, WAITS } from "./hostile_request.ts";

/** Requests that have the same reason to be refused. */
interface Group {
  /** What precedes `heads`: a request line and fields. */
  readonly start: string;
  /** What precedes `bodies`: the fields of their head. */
  readonly fields?: string;
  /** The rest of a head, by what is wrong with it. */
  readonly heads?: Readonly<Record<string, string>>;
  /** A body, by what is wrong with it. */
  readonly bodies?: Readonly<Record<string, string>>;
  readonly may: readonly number[];
}

const POST = "POST /input/text HTTP/1.1\r\nHost: x\r\n";
const GET = "GET /open HTTP/1.1\r\nHost: x\r\n";
const CHUNKED = "Transfer-Encoding: chunked\r\n";
const WEB_SOCKET = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
  "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
const H2C =
  "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQ\r\n";
/** The end of a chunked body, and a body of five bytes. */
const END = "0\r\n\r\n";
const REFUSED = [400, CLOSED];

/** What follows these may not be read as a request. */
const GROUPS: readonly Group[] = [
  {
    // read as chunked or refused, and nothing may follow: RFC 9112 §6.3
    start: POST,
    may: [...REFUSED, 200],
    heads: {
      "Content-Length, then chunked": `Content-Length: 5\r\n${CHUNKED}`,
      "chunked, then Content-Length": `${CHUNKED}Content-Length: 5\r\n`,
      "Content-Length 0 and chunked": `Content-Length: 0\r\n${CHUNKED}`,
      "a folded coding": "Transfer-Encoding:\r\n chunked\r\n",
    },
  },
  {
    start: "POST /input/text HTTP/1.0\r\nHost: x\r\n",
    may: [...REFUSED, 200],
    heads: { "chunked in HTTP/1.0": CHUNKED },
  },
  {
    // codings that nobody knows: RFC 9112 §6.1
    start: POST,
    may: [...REFUSED, 501],
    heads: {
      "chunked twice": "Transfer-Encoding: chunked, chunked\r\n",
      "chunked before identity": "Transfer-Encoding: chunked, identity\r\n",
      "chunked and identity in two fields": `${CHUNKED}Transfer-Encoding: identity\r\n`,
      "identity": "Transfer-Encoding: identity\r\n",
      "xchunked": "Transfer-Encoding: xchunked\r\n",
      "chunked with a vertical tab": "Transfer-Encoding: \x0bchunked\r\n",
      "chunked in quotes": 'Transfer-Encoding: "chunked"\r\n',
      "chunked after a null": "Transfer-Encoding: \0chunked\r\n",
    },
  },
  {
    // spaces, folded lines (RFC 9112 §5) and lengths (RFC 9110 §8.6)
    start: POST,
    may: REFUSED,
    heads: {
      "a space before the colon": "Transfer-Encoding : chunked\r\n",
      "a tab before the colon": "Content-Length\t: 5\r\n",
      "a folded length": "Content-Length:\r\n 5\r\n",
      "a length in a folded line": "X: y\r\n Content-Length: 5\r\n",
      "a field without a colon": "Content-Length\r\n",
      "a field without a name": ": 5\r\n",
      "a null in a name": "Content\0-Length: 5\r\n",
      "a null in a value": "X: a\0b\r\nContent-Length: 5\r\n",
      "a bare CR in a value": "X: a\rContent-Length: 5\r\n",
      "a bare CR before a field": "\rContent-Length: 5\r\n",
      "two lengths": "Content-Length: 5\r\nContent-Length: 6\r\n",
      "two lengths, the first 0": "Content-Length: 0\r\nContent-Length: 5\r\n",
      "two lengths in a list": "Content-Length: 5, 6\r\n",
      "a length with a plus": "Content-Length: +5\r\n",
      "a negative length": "Content-Length: -5\r\n",
      "a hexadecimal length": "Content-Length: 0x5\r\n",
      "a length with an exponent": "Content-Length: 5e0\r\n",
      "a length with an underscore": "Content-Length: 0_5\r\n",
      "a length of two words": "Content-Length: 5 5\r\n",
      "an empty length": "Content-Length:\r\n",
    },
  },
  {
    start: POST,
    may: [...REFUSED, 413],
    heads: {
      "a length of 2^32 and 5": "Content-Length: 4294967301\r\n",
      "a length of 2^64": "Content-Length: 18446744073709551616\r\n",
      "a length of 2^64 and 5": "Content-Length: 18446744073709551621\r\n",
    },
  },
  {
    // RFC 9112 §7.1
    start: POST,
    fields: CHUNKED,
    may: [...REFUSED, 413],
    bodies: {
      "a chunk of 2^64": `1${"0".repeat(16)}\r\nZ\r\n${END}`,
      "a negative chunk": `-1\r\nZ\r\n${END}`,
      "a chunk with 0x": `0x1\r\nZ\r\n${END}`,
      "a chunk without a length": `\r\nZ\r\n${END}`,
      "a chunk longer than its length": `1\r\nZZZZ\r\n${END}`,
      "a chunk that ends with a bare CR": `1\r\nZ\rX${END}`,
      "a null in a chunk's length": `1\0\r\nZ\r\n${END}`,
    },
  },
  {
    start: POST,
    fields: `Content-Length: 4\r\n${CHUNKED}`,
    may: [...REFUSED, 200],
    bodies: { "chunks over a length": `1\r\nZ\r\n${END}` },
  },
];

/** Request lines and hosts that are invalid; a request may follow (RFC 9112 §3, RFC 9110 §7.2). */
const LINES: readonly Group[] = [
  {
    start: "",
    may: [...REFUSED, 404, 405, 431, 501, 505],
    heads: {
      "a word after the version": "GET /open HTTP/1.1 x\r\nHost: x\r\n",
      "a space in the target": "GET /open /x HTTP/1.1\r\nHost: x\r\n",
      "HTTP/9.9": "GET /open HTTP/9.9\r\nHost: x\r\n",
      "a null in the method": "GE\0T /open HTTP/1.1\r\nHost: x\r\n",
      "a method of 20 000 letters": `${"A".repeat(20_000)} /open HTTP/1.1\r\nHost: x\r\n`,
      "no target": "GET HTTP/1.1\r\nHost: x\r\n",
      "CONNECT": "CONNECT /open HTTP/1.1\r\nHost: x\r\n",
      "CONNECT to a host": "CONNECT x:443 HTTP/1.1\r\nHost: x\r\n",
      "PRI of HTTP/2 in HTTP/1.1": "PRI /open HTTP/1.1\r\nHost: x\r\n",
      "a first field after a space": "GET /open HTTP/1.1\r\n Host: x\r\n",
    },
  },
  {
    start: "",
    may: REFUSED,
    heads: {
      "two hosts": `${GET}Host: y\r\n`,
      "the same host twice": `${GET}Host: x\r\n`,
      "a path in the host": "GET /open HTTP/1.1\r\nHost: x/admin?\r\n",
      "a user in the host": "GET /open HTTP/1.1\r\nHost: x@y\r\n",
      "a space in the host": "GET /open HTTP/1.1\r\nHost: x y\r\n",
      "a port of 99999": "GET /open HTTP/1.1\r\nHost: x:99999\r\n",
    },
  },
  {
    // a server may accept them: RFC 9112 §2.2, §3
    start: "",
    may: [...REFUSED, 200, 505],
    heads: {
      "two spaces before the target": "GET  /open HTTP/1.1\r\nHost: x\r\n",
      "no host": "GET /open HTTP/1.1\r\n",
      "a bare LF before a field": "GET /open HTTP/1.1\nHost: x\r\n",
      "a head with bare LF": "GET /open HTTP/1.1\nHost: x\n\n",
    },
  },
];

/** Requests whose body has the form of a request, and must be read as a body. */
const BODIES: readonly (readonly [what: string, head: string, may: readonly number[]])[] = [
  ["the body of a POST", POST, [200]],
  ["a body that no handler reads", "POST /input/unread HTTP/1.1\r\nHost: x\r\n", [200]],
  ["the body of a GET", GET, [200]],
  ["the body of a HEAD", "HEAD /open HTTP/1.1\r\nHost: x\r\n", [200]],
  ["the body of a DELETE", "DELETE /open HTTP/1.1\r\nHost: x\r\n", [405]],
  ["the body of an OPTIONS", "OPTIONS /open HTTP/1.1\r\nHost: x\r\n", [204]],
  ["the body of a path that is not there", "POST /nothing HTTP/1.1\r\nHost: x\r\n", [404]],
  ["the body of a refused caller", "POST /admin HTTP/1.1\r\nHost: x\r\n", [401]],
  ["the body of a refused type", "POST /input/json HTTP/1.1\r\nHost: x\r\n", [415]],
  ["the body of HTTP/1.0", "POST /input/text HTTP/1.0\r\nHost: x\r\n", [200]],
  ["the body of an upgrade to h2c", POST + H2C, [...REFUSED, 200]],
  [
    "the body of an upgrade to a WebSocket",
    `GET /socket/echo HTTP/1.1\r\nHost: x\r\n${WEB_SOCKET}`,
    [...REFUSED, WAITS, 426], // a response of 101 is none that ends
  ],
  ["the body of Expect: 100-continue", `${POST}Expect: 100-continue\r\n`, [200]],
  ["the body of an unknown Expect", `${POST}Expect: x\r\n`, [...REFUSED, 200, 417]],
];

/** Requests that never end: a server waits, closes, or refuses. */
const UNFINISHED: Readonly<Record<string, string>> = {
  "half a request line": "GET /op",
  "half a head": GET,
  "half a body": `${POST}Content-Length: 10\r\n\r\n12345`,
  "half a chunk": `${POST}${CHUNKED}\r\na\r\n12345`,
  "chunks without a last one": `${POST}${CHUNKED}\r\n5\r\n12345\r\n`,
  "nothing but empty lines": "\r\n".repeat(1_000),
};

/** All of them. */
export const FRAMING: readonly HostileRequest[] = [
  ...GROUPS.flatMap((group) => requestsOf(group, smuggled)),
  ...LINES.flatMap((group) => requestsOf(group, () => "")),
  ...BODIES.map(([what, head, may]) => {
    const body = smuggled(what);
    return { what, may, bytes: `${head}Content-Length: ${body.length}\r\n\r\n${body}` };
  }),
  ...Object.entries(UNFINISHED).map(([what, bytes]) => ({
    what,
    bytes,
    may: [...REFUSED, WAITS],
  })),
];

function requestsOf(
  { start, fields = "", heads = {}, bodies = {}, may }: Group,
  behind: (what: string) => string,
): readonly HostileRequest[] {
  const end = behind === smuggled ? END : "";
  return [
    ...Object.entries(heads).map(([what, head]) => ({
      what,
      may,
      bytes: `${start}${head}\r\n${end}${behind(what)}`,
    })),
    ...Object.entries(bodies).map(([what, body]) => ({
      what,
      may,
      bytes: `${start}${fields}\r\n${body}${behind(what)}`,
    })),
  ];
}

/** A request to a route that reports that it was reached. */
function smuggled(what: string): string {
  return `GET /smuggled/${what.replace(/\W+/g, "-")} HTTP/1.1\r\nHost: x\r\n\r\n`;
}
