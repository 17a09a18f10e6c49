/** `fw` with a repository of users; the schema of the response leaves out other columns. */
import { controller, FwFactory, inject, module, NotFoundException, route } from "@fw/fw";
import { DbModule, DbOptions, DbService, field, model } from "@fw/fw/db";
import * as v from "valibot";
import { options } from "../options.ts";
import { NewUser, UserParams, UserRow, UsersQuery } from "../valibot_schemas.ts";

const User = model("users", {
  id: field.integer().primaryKey(),
  tenant_id: field.text().default("demo"),
  email: field.text(),
  name: field.text(),
  active: field.boolean().default(true),
});

/** The columns of the response, as the peers read them. */
const SENT = { id: true, email: true, name: true, active: true } as const;

class Db extends DbService.with({ user: User }) {}

class UsersController extends controller("users") {
  readonly #db = inject(Db);

  one = route.get(
    "/:id",
    { params: UserParams, response: UserRow },
    async ({ params: { id } }) =>
      await this.#db.user.findUnique({ where: { id } }) ?? NotFoundException.throw("No such user"),
  );
  list = route.get(
    "/",
    { query: UsersQuery, response: v.array(UserRow) },
    ({ query: { take } }) =>
      this.#db.user.findMany({ orderBy: { id: "asc" }, take, select: SENT }),
  );
  create = route.post(
    "/",
    { body: NewUser, response: UserRow, status: 201 },
    ({ body }) => this.#db.user.create({ data: body }),
  );
}

/** Listens. */
export async function listen(): Promise<void> {
  const app = await FwFactory.create(module({
    imports: [DbModule.forRoot(Db, DbOptions.fromUrl(options.databaseUrl))],
    controllers: [UsersController],
  }));
  await app.listen(options.port, { hostname: "127.0.0.1" });
}
