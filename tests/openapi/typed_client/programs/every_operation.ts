/** Creates, lists, gets, changes and deletes users, and gets every refusal of them that input can have. */
import assert from "node:assert/strict";
import { printObserved, type Problem, recordedClient, refused } from "./recorded_client.ts";
// @ts-ignore: generated beside the copy of this file that is compiled and run
import type { components } from "./users_document.ts";

type User = components["schemas"]["UserRow"];
type Issues = NonNullable<Problem["errors"]>;

const ALL = "/api/v1/users";
const ONE = "/api/v1/users/{id}";

const client = recordedClient();

const one = (id: number) => ({ params: { path: { id } } });
const page = (query: { skip?: number; take?: number }) => ({ params: { query } });
const brokenJson = { bodySerializer: () => '{"name":' };
const plainText = { headers: { "content-type": "text/plain" } };

const unread = (instance: string) => ({
  status: 400,
  title: "Bad Request",
  detail: "The body is not valid JSON",
  instance,
});
const missing = (instance: string, detail: string) => ({
  status: 404,
  title: "Not Found",
  detail,
  instance,
});
const tooLarge = (instance: string) => ({
  status: 413,
  title: "Content Too Large",
  detail: "The body is larger than 1048576 bytes",
  instance,
});
const notJson = (instance: string) => ({
  status: 415,
  title: "Unsupported Media Type",
  detail: "This route reads application/json; the body has another type",
  instance,
});
const invalid = (instance: string, schema: string, errors: Issues) => ({
  status: 422,
  title: "Unprocessable Content",
  detail: `The ${errors[0]?.in} does not satisfy ${schema}`,
  instance,
  errors,
});

const { data: tom, response: creation } = await client.POST(ALL, {
  body: { email: "tom@example.com", name: "Tom" },
});
assert.ok(tom);
assert.deepEqual(tom, { id: tom.id, email: "tom@example.com", name: "Tom", active: true });
assert.deepEqual(
  [creation.status, creation.headers.get("location")],
  [201, `${ALL}/${tom.id}`],
);
const { data: ann } = await client.POST(ALL, { body: { email: "ann@example.com", name: "Ann" } });
assert.ok(ann);

const { data: everybody, response: listing } = await client.GET(ALL);
assert.deepEqual(everybody, [tom, ann]);
assert.deepEqual([listing.status, listing.headers.get("x-total-count")], [200, "2"]);
const { data: second } = await client.GET(ALL, page({ skip: 1, take: 1 }));
assert.deepEqual(second, [ann]);

const { data: found } = await client.GET(ONE, one(tom.id));
assert.deepEqual(found, tom);

const { data: changed } = await client.PATCH(ONE, { ...one(tom.id), body: { active: false } });
assert.deepEqual(changed, { ...tom, active: false } satisfies User);

const { data: deleted } = await client.DELETE(ONE, one(tom.id));
assert.deepEqual(deleted, changed);
const { data: left } = await client.GET(ALL);
assert.deepEqual(left, [ann]);

const body = { email: "tim@example.com", name: "Tim" };
const huge = { ...body, name: "x".repeat(2 ** 20) };
refused(await client.POST(ALL, { body, ...brokenJson }), unread(ALL));
refused(await client.POST(ALL, { body: { ...body, email: ann.email } }), {
  status: 409,
  title: "Conflict",
  detail: "Cannot create users: the value of email is already taken",
  instance: ALL,
});
refused(await client.POST(ALL, { body: huge }), tooLarge(ALL));
refused(await client.POST(ALL, { body, ...plainText }), notJson(ALL));
refused(
  await client.POST(ALL, { body: { email: "nobody", name: "T" } }),
  invalid(ALL, "CreateUserDto", [
    { in: "body", field: "email", message: "Invalid email" },
    { in: "body", field: "name", message: "Invalid code points: Expected >=2" },
  ]),
);

refused(
  await client.GET(ALL, page({ take: 1.5 })),
  invalid(ALL, "UsersPageQuery", [
    { in: "query", field: "take", message: "Expected a whole number" },
  ]),
);

const his = one(tom.id);
const gone = `${ALL}/${tom.id}`;
refused(await client.GET(ONE, his), missing(gone, "No such user"));
refused(
  await client.PATCH(ONE, { ...his, body: { name: "Tim" } }),
  missing(gone, "Cannot update users: there is no such row"),
);
refused(
  await client.DELETE(ONE, his),
  missing(gone, "Cannot delete users: there is no such row"),
);

const half = one(1.5);
const noId = invalid(`${ALL}/1.5`, "UserIdParam", [
  { in: "path", field: "id", message: "Expected a whole number" },
]);
refused(await client.GET(ONE, half), noId);
refused(await client.PATCH(ONE, { ...half, body: { name: "Tim" } }), noId);
refused(await client.DELETE(ONE, half), noId);

const her = one(ann.id);
const hers = `${ALL}/${ann.id}`;
refused(await client.PATCH(ONE, { ...her, body: {}, ...brokenJson }), unread(hers));
refused(await client.PATCH(ONE, { ...her, body: huge }), tooLarge(hers));
refused(await client.PATCH(ONE, { ...her, body: {}, ...plainText }), notJson(hers));
refused(
  await client.PATCH(ONE, { ...her, body: { name: "A" } }),
  invalid(hers, "UpdateUserDto", [
    { in: "body", field: "name", message: "Invalid code points: Expected >=2" },
  ]),
);
const { data: unharmed } = await client.GET(ONE, her);
assert.deepEqual(unharmed, ann);

printObserved();
