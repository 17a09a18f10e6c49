/** Is refused each operation by a limit of one request. */
import assert from "node:assert/strict";
import { printObserved, type Problem, recordedClient, refused } from "./recorded_client.ts";

const ALL = "/api/v1/users";
const ONE = "/api/v1/users/{id}";
const FIRST = "/api/v1/users/1";

const client = recordedClient();
const body = { email: "tom@example.com", name: "Tom" };
const first = { params: { path: { id: 1 } } };

const { data: nobody } = await client.GET(ALL);
assert.deepEqual(nobody, []);

limited(await client.POST(ALL, { body }), ALL);
limited(await client.GET(ALL), ALL);
limited(await client.GET(ONE, first), FIRST);
limited(await client.PATCH(ONE, { ...first, body }), FIRST);
limited(await client.DELETE(ONE, first), FIRST);

printObserved();

function limited(answer: { error?: Problem; response: Response }, instance: string): void {
  const seconds = answer.response.headers.get("retry-after");
  assert.match(seconds ?? "", /^[1-9]\d*$/);
  refused(answer, {
    status: 429,
    title: "Too Many Requests",
    detail: `Try again in ${seconds} s`,
    instance,
  });
}
