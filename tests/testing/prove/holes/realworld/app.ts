/** A port of the RealWorld API (https://docs.realworld.build), with scopes and moderators. */
import { type FwApplication, type Module, module, provide } from "../../../../../mod.ts";
import { JwtKey, JwtService } from "../../../../../src/authn/mod.ts";
import { DbModule, DbOptions } from "../../../../../src/db/mod.ts";
import {
  AccountsService,
  ProfilesController,
  UserController,
  UsersController,
} from "./accounts.ts";
import { ArticlesController, ArticlesService, TagsController } from "./articles.ts";
import { CommentsController, CommentsService, ModerationController } from "./comments.ts";
import { Db } from "./database.ts";

/** The application on a database. */
export function appModule(databaseUrl: string): Module {
  return module({
    name: "AppModule",
    imports: [DbModule.forRoot(Db, DbOptions.fromUrl(databaseUrl))],
    providers: [
      provide(
        JwtService,
        async () => new JwtService({ issuer: "conduit", key: await JwtKey.generate() }),
      ),
      AccountsService,
      ArticlesService,
      CommentsService,
    ],
    controllers: [
      UsersController,
      UserController,
      ProfilesController,
      ArticlesController,
      CommentsController,
      ModerationController,
      TagsController,
    ],
  });
}

/** Configures prefixes and middleware. */
export function setUp(app: FwApplication): FwApplication {
  return app
    .setGlobalPrefix("api")
    .useRequestId()
    .enableOpenApi({
      title: "Conduit",
      version: "1.0.0",
      components: {
        securitySchemes: { bearerAuth: { type: "http", scheme: "bearer", bearerFormat: "JWT" } },
      },
      inferRouteSecurityFromRoles: true,
    })
    .enableProductionErrors()
    .useAuthn(app.get(JwtService));
}
