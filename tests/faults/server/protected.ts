/** Routes of every protection; each says that it was reached. */
import { type Context, controller, module, route } from "../../../mod.ts";
import { oauth2Identity } from "../../../src/oauth2/mod.ts";
import { REACHED } from "./reached.ts";

class OpenController extends controller("open", { public: true }) {
  all = route.get("/", reach("OpenController.all"));
  one = route.get("/:id", reach("OpenController.one"));
}

class AccountController extends controller("account") {
  show = route.get("/", reach("AccountController.show"));
  replace = route.put("/", reach("AccountController.replace"));
  item = route.get("/items/:id", reach("AccountController.item"));
  remove = route.delete("/items/:id", reach("AccountController.remove"));
  help = route.get("/help", { public: true }, reach("AccountController.help"));
}

class AdminController extends controller("admin", { roles: ["admin"] }) {
  list = route.get("/", reach("AdminController.list"));
  add = route.post("/", reach("AdminController.add"));
  user = route.get("/users/:id", reach("AdminController.user"));
  peek = route.head("/peek", reach("AdminController.peek"));
  anything = route.all("/anything", reach("AdminController.anything"));
  status = route.get("/status", { public: true }, reach("AdminController.status"));
  /** Its own roles replace those of the controller. */
  several = route.get("/several", { roles: ["clerk", "admin"] }, reach("AdminController.several"));
}

class OrdersController extends controller("orders") {
  read = route.get("/", { scopes: ["orders:read"] }, reach("OrdersController.read"));
  write = route.post(
    "/",
    { scopes: ["orders:read", "orders:write"] },
    reach("OrdersController.write"),
  );
  both = route.get(
    "/both",
    { roles: ["admin"], scopes: ["orders:read"] },
    reach("OrdersController.both"),
  );
}

class FilesController extends controller("files", { roles: ["admin"] }) {
  any = route.get("/*", reach("FilesController.any"));
  terms = route.get("/terms", { public: true }, reach("FilesController.terms"));
}

class TenantsController extends controller("tenants/:tenant", { guards: [isOfTenant] }) {
  show = route.get("/", reach("TenantsController.show"));
  row = route.get("/rows/:id", reach("TenantsController.row"));
  change = route.patch("/rows/:id", { roles: ["admin"] }, reach("TenantsController.change"));
}

/** Its guard returns nothing, as one that reads a property of no identity: it lets nobody in. */
class LooseController extends controller("loose", { guards: [returningNothing] }) {
  all = route.all("/", reach("LooseController.all"));
}

/** The routes. */
export const protectedModule = module({
  name: "ProtectedModule",
  controllers: [
    OpenController,
    AccountController,
    AdminController,
    OrdersController,
    FilesController,
    TenantsController,
    LooseController,
  ],
});

function reach(name: string) {
  return (_: unknown, c: Context) => {
    c.header(REACHED, name);
    return { reached: name };
  };
}

function isOfTenant(c: Context): boolean {
  return oauth2Identity(c)?.claims.tenant_id === c.req.param("tenant");
}

function returningNothing(): boolean {
  return undefined as unknown as boolean;
}
