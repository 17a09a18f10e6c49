/** Posts to a URL, to an address of loopback, and prints the status. */
import process from "node:process";
import { post } from "../../../src/jobs/webhooks/post.ts";

const [url = ""] = process.argv.slice(2);
const body = new TextEncoder().encode("{}");
const headers = { "content-length": String(body.byteLength) };
const { status } = await post({ url: new URL(url), headers, body }, {
  timeoutMs: 30_000,
  signal: new AbortController().signal,
  allowLocal: true,
  resolve: () => Promise.resolve(["127.0.0.1"]),
});
console.log(`status ${status}`);
