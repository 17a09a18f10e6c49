/** Statements of many kinds, more than a connection keeps prepared. */
import * as v from "valibot";
import { controller, inject, type Module, module, type OnModuleInit, route } from "../../../mod.ts";
import { DbModule, type DbOptions, DbService, field, model } from "../../../src/db/mod.ts";

const COLUMNS = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"] as const;

/** How many statements of their own `GET /varied/:n` has. */
export const STATEMENTS = 2 ** COLUMNS.length - 1;

const Wide = model("wide", {
  id: field.integer().primaryKey(),
  a: field.integer(),
  b: field.integer(),
  c: field.integer(),
  d: field.integer(),
  e: field.integer(),
  f: field.integer(),
  g: field.integer(),
  h: field.integer(),
  i: field.integer(),
  j: field.integer(),
  k: field.integer(),
});

class WideDb extends DbService.with({ wide: Wide }) {}

class StatementsController extends controller("varied") implements OnModuleInit {
  readonly #db = inject(WideDb);

  async onModuleInit(): Promise<void> {
    await this.#db.createTables();
    if (await this.#db.wide.exists({})) return;
    await this.#db.wide.create({
      data: { id: 1, a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8, i: 9, j: 10, k: 11 },
    });
  }

  /** The columns of the bits of `n`: each number is a statement of its own. */
  varied = route.get("/:n", { params: v.object({ n: v.string() }) }, ({ params }) => {
    const chosen = COLUMNS.filter((_, bit) => Number(params.n) >> bit & 1);
    const select = Object.fromEntries(chosen.map((name) => [name, true])) as { a: true };
    return this.#db.wide.findMany({ where: { id: 1 }, select });
  });
}

/** The statements on a database. */
export function statementsModule(options: DbOptions): Module {
  return module({
    name: "StatementsModule",
    imports: [DbModule.forRoot(WideDb, options)],
    controllers: [StatementsController],
  });
}
