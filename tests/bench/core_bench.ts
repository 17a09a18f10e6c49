/**
 * A GET with validated params and a response schema, through `app.fetch`: the framework beside the
 * same route written by hand on bare Hono with the same schemas, among 10 and among 5 000 routes.
 * Goal: at most 2 µs over Hono, and no growth with the number of routes.
 */
import { Hono } from "hono";
import * as v from "valibot";
import { controller, FwFactory, module, type Route, route } from "../../mod.ts";

const Params = v.object({ id: v.pipe(v.string(), v.regex(/^\d+$/), v.transform(Number)) });
const Row = v.object({ id: v.number(), name: v.string() });
const row = { id: 7, name: "Tom", tenant_id: "hidden" };

function bareHono(routes: number): (request: Request) => Response | Promise<Response> {
  const app = new Hono();
  for (let i = 0; i < routes; i++) {
    app.get(`/r${i}/:id`, (c) => {
      const params = v.safeParse(Params, c.req.param());
      if (!params.success) return c.json({ issues: params.issues.length }, 422);
      const output = v.safeParse(Row, { ...row, id: params.output.id });
      return output.success ? c.json(output.output) : c.json({}, 500);
    });
  }
  return app.fetch;
}

async function framework(routes: number): Promise<typeof fetch> {
  class ManyController extends controller() {
    constructor() {
      super();
      const all: Record<string, Route> = {};
      for (let i = 0; i < routes; i++) {
        all[`r${i}`] = route.get(
          `/r${i}/:id`,
          { params: Params, response: Row },
          ({ params }) => ({ ...row, id: params.id }),
        );
      }
      Object.assign(this, all);
    }
  }
  const app = await FwFactory.create(module({ controllers: [ManyController] }));
  await app.request("/");
  return app.fetch as typeof fetch;
}

for (const routes of [10, 5000]) {
  const request = new Request(`http://localhost/r${routes - 1}/7`);
  const hono = bareHono(routes);
  const fw = await framework(routes);
  const group = `${routes} routes`;
  Deno.bench(`Hono by hand, ${group}`, { group, baseline: true }, async () => {
    await hono(request);
  });
  Deno.bench(`fw, ${group}`, { group }, async () => {
    await fw(request);
  });
}
