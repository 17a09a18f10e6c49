/** Is refused what needs a token, a tenant, or another tenant than the token's. */
import assert from "node:assert/strict";
import process from "node:process";
import { printObserved, recordedClient, refused } from "./recorded_client.ts";

const ALL = "/api/v1/users";
const ONE = "/api/v1/users/{id}";

const [ours = "", theirs = "", nobodys = ""] = process.argv.slice(3);
const body = { email: "tom@example.com", name: "Tom" };

const { data: tom } = await recordedClient(ours).POST(ALL, { body });
assert.ok(tom);
const him = { params: { path: { id: tom.id } } };
const his = `${ALL}/${tom.id}`;

const unknown = (instance: string) => ({
  status: 401,
  title: "Unauthorized",
  detail: "An identity is required",
  instance,
});
const stranger = recordedClient();
refused(await stranger.POST(ALL, { body }), unknown(ALL));
refused(await stranger.GET(ALL), unknown(ALL));
refused(await stranger.GET(ONE, him), unknown(his));
refused(await stranger.PATCH(ONE, { ...him, body: { name: "Tim" } }), unknown(his));
refused(await stranger.DELETE(ONE, him), unknown(his));

const forbidden = (instance: string, detail = "The token names no tenant") => ({
  status: 403,
  title: "Forbidden",
  detail,
  instance,
});
const homeless = recordedClient(nobodys);
refused(await homeless.POST(ALL, { body }), forbidden(ALL));
refused(await homeless.GET(ALL), forbidden(ALL));
refused(await homeless.GET(ONE, him), forbidden(his));
refused(await homeless.PATCH(ONE, { ...him, body: { name: "Tim" } }), forbidden(his));
refused(await homeless.DELETE(ONE, him), forbidden(his));
refused(
  await recordedClient(theirs).PATCH(ONE, { ...him, body: { name: "Tim" } }),
  forbidden(his, "The user belongs to another tenant"),
);

printObserved();
