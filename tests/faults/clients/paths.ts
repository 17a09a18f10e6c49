/** Odd paths to protected routes: none of them is a way in. */
import { CLOSED, type HostileRequest } from "./hostile_request.ts";

const TARGETS: Readonly<Record<string, string>> = {
  "two slashes": "//admin",
  "three slashes": "///admin",
  "two slashes and another host": "//evil.example/admin",
  "a dot segment": "/./admin",
  "a dot segment up": "/open/../admin",
  "an encoded dot segment": "/%2e/admin",
  "an encoded dot segment up": "/open/%2e%2e/admin",
  "an encoded slash": "/open%2f..%2fadmin",
  "a null": "/admin%00",
  "a null before": "/%00/../admin",
  "an overlong dot": "/open/%c0%ae%c0%ae/admin",
  "an overlong slash": "/open%c0%af..%c0%afadmin",
  "half a surrogate": "/admin/users/%ed%a0%80",
  "bytes that are no UTF-8": "/admin/users/%ff%fe",
  "raw bytes": "/admin/users/\xff\xfe",
  "a raw null": "/admin/users/\0",
  "a percent sign": "/admin/users/%",
  "a percent sign and letters": "/admin/users/%zz",
  "a backslash": "/open\\..\\admin",
  "an encoded backslash": "/open%5c..%5cadmin",
  "a semicolon": "/admin;/users/1",
  "a fragment": "/admin#/open",
  "a fragment before": "/open#/../admin",
  "a query that is a path": "/admin?/../open",
  "an absolute target": "http://x/admin",
  "an absolute target without a path": "http://x",
  "an absolute target of another scheme": "ftp://x/admin",
  "an absolute target with a user": "http://u:p@x/admin",
  "an absolute target of another host": "http://evil.example/admin",
  "an absolute target with an invalid port": "http://x:99999/admin",
  "a target without a slash": "admin",
  "an asterisk": "*",
  "a pattern": "/admin/users/:id",
  "a wildcard": "/files/*",
  "a prototype": "/admin/users/__proto__",
  "upper case": "/ADMIN",
  "full-width letters": "/%ef%bd%81dmin",
  "a zero-width space": "/admin%e2%80%8b",
  "64 KiB": `/admin/users/${"a".repeat(65_536)}`,
  "64 KiB of slashes": `${"/".repeat(65_536)}admin`,
  "64 KiB of segments": `/files${"/a".repeat(32_768)}`,
  "8 000 segments up": `/open${"/..".repeat(2_600)}/admin`,
  "8 000 encoded letters": `/admin/users/${"%61".repeat(2_600)}`,
  "64 KiB of a query": `/admin?${"a".repeat(65_536)}`,
};

/** Without an identity they are refused, are no path, or too long; a raw null ends the line. */
const MAY = [400, 401, 404, 405, 414, 431, 505, CLOSED];

/** All of them; by GET, HEAD and POST. */
export const PATHS: readonly HostileRequest[] = Object.entries(TARGETS).flatMap(([what, target]) =>
  ["GET", "HEAD", "POST"].map((method) => ({
    what: `${method} of ${what}`,
    bytes: `${method} ${target} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`,
    may: mayOf(what),
  }))
);

/** Two of them are no paths of protected routes. */
function mayOf(what: string): readonly number[] {
  return what === "a fragment before" ? [...MAY, 200] : MAY;
}
