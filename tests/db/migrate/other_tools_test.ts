/** Tables as other tools create them are read and written, and pass `checkTables()`. */
import assert from "node:assert/strict";
import { sql } from "kysely";
import { belongsTo, DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { type Brand, testOnEach } from "../support/database.ts";

const User = model("users", {
  id: field.integer().primaryKey(),
  email: field.text().unique(),
  role: field.text().default("USER"),
  active: field.boolean().default(true),
  meta: field.json().nullable(),
  createdAt: field.timestamp().default(() => new Date()),
});
const Post = model("posts", {
  id: field.integer().primaryKey(),
  authorId: field.integer().references(User),
  title: field.text().nullable(),
});
class Blog extends DbService.with({ user: User, post: Post }, {
  post: { author: belongsTo(Post.authorId) },
}) {}

/** What the migrations of each tool run; its own tables are omitted. */
const TOOLS: Readonly<Record<string, Readonly<Record<Brand, readonly string[]>>>> = {
  Prisma: {
    postgres: [
      `CREATE TYPE "Role" AS ENUM ('USER', 'ADMIN')`,
      `CREATE TABLE "users" ("id" SERIAL NOT NULL, "email" TEXT NOT NULL,
        "role" "Role" NOT NULL DEFAULT 'USER', "active" BOOLEAN NOT NULL DEFAULT true,
        "meta" JSONB, "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
        CONSTRAINT "users_pkey" PRIMARY KEY ("id"))`,
      `CREATE TABLE "posts" ("id" SERIAL NOT NULL, "authorId" INTEGER NOT NULL, "title" TEXT,
        CONSTRAINT "posts_pkey" PRIMARY KEY ("id"))`,
      `CREATE UNIQUE INDEX "users_email_key" ON "users"("email")`,
      `ALTER TABLE "posts" ADD CONSTRAINT "posts_authorId_fkey" FOREIGN KEY ("authorId")
        REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE`,
    ],
    mysql: [
      `CREATE TABLE \`users\` (\`id\` INTEGER NOT NULL AUTO_INCREMENT,
        \`email\` VARCHAR(191) NOT NULL, \`role\` ENUM('USER', 'ADMIN') NOT NULL DEFAULT 'USER',
        \`active\` BOOLEAN NOT NULL DEFAULT true, \`meta\` JSON NULL,
        \`createdAt\` DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
        UNIQUE INDEX \`users_email_key\`(\`email\`), PRIMARY KEY (\`id\`)
      ) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci`,
      `CREATE TABLE \`posts\` (\`id\` INTEGER NOT NULL AUTO_INCREMENT,
        \`authorId\` INTEGER NOT NULL, \`title\` VARCHAR(191) NULL, PRIMARY KEY (\`id\`)
      ) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci`,
      `ALTER TABLE \`posts\` ADD CONSTRAINT \`posts_authorId_fkey\` FOREIGN KEY (\`authorId\`)
        REFERENCES \`users\`(\`id\`) ON DELETE RESTRICT ON UPDATE CASCADE`,
    ],
    sqlite: [
      `CREATE TABLE "users" ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        "email" TEXT NOT NULL, "role" TEXT NOT NULL DEFAULT 'USER',
        "active" BOOLEAN NOT NULL DEFAULT true, "meta" JSONB,
        "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP)`,
      `CREATE TABLE "posts" ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        "authorId" INTEGER NOT NULL, "title" TEXT, CONSTRAINT "posts_authorId_fkey"
        FOREIGN KEY ("authorId") REFERENCES "users" ("id") ON DELETE RESTRICT ON UPDATE CASCADE)`,
      `CREATE UNIQUE INDEX "users_email_key" ON "users"("email")`,
    ],
  },
  TypeORM: {
    postgres: [
      `CREATE TYPE "public"."users_role_enum" AS ENUM('USER', 'ADMIN')`,
      `CREATE TABLE "users" ("id" SERIAL NOT NULL, "email" character varying NOT NULL,
        "role" "public"."users_role_enum" NOT NULL DEFAULT 'USER',
        "active" boolean NOT NULL DEFAULT true, "meta" json,
        "createdAt" TIMESTAMP NOT NULL DEFAULT now(),
        CONSTRAINT "UQ_97672ac88f789774dd47f7c8be3" UNIQUE ("email"),
        CONSTRAINT "PK_a3ffb1c0c8416b9fc6f907b7433" PRIMARY KEY ("id"))`,
      `CREATE TABLE "posts" ("id" SERIAL NOT NULL, "title" character varying,
        "authorId" integer NOT NULL,
        CONSTRAINT "PK_2829ac61eff60fcec60d7274b9e" PRIMARY KEY ("id"))`,
      `ALTER TABLE "posts" ADD CONSTRAINT "FK_c5a322ad12a7bf95460c958e80e" FOREIGN KEY ("authorId")
        REFERENCES "users"("id") ON DELETE NO ACTION ON UPDATE NO ACTION`,
    ],
    mysql: [
      `CREATE TABLE \`users\` (\`id\` int NOT NULL AUTO_INCREMENT, \`email\` varchar(255) NOT NULL,
        \`role\` enum ('USER', 'ADMIN') NOT NULL DEFAULT 'USER',
        \`active\` tinyint NOT NULL DEFAULT 1, \`meta\` json NULL,
        \`createdAt\` datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
        UNIQUE INDEX \`IDX_97672ac88f789774dd47f7c8be\` (\`email\`), PRIMARY KEY (\`id\`)
      ) ENGINE=InnoDB`,
      `CREATE TABLE \`posts\` (\`id\` int NOT NULL AUTO_INCREMENT, \`title\` varchar(255) NULL,
        \`authorId\` int NOT NULL, PRIMARY KEY (\`id\`)) ENGINE=InnoDB`,
      `ALTER TABLE \`posts\` ADD CONSTRAINT \`FK_c5a322ad12a7bf95460c958e80e\`
        FOREIGN KEY (\`authorId\`) REFERENCES \`users\`(\`id\`)
        ON DELETE NO ACTION ON UPDATE NO ACTION`,
    ],
    sqlite: [
      `CREATE TABLE "users" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL,
        "email" varchar NOT NULL,
        "role" varchar CHECK( "role" IN ('USER','ADMIN') ) NOT NULL DEFAULT ('USER'),
        "active" boolean NOT NULL DEFAULT (1), "meta" text,
        "createdAt" datetime NOT NULL DEFAULT (datetime('now')),
        CONSTRAINT "UQ_97672ac88f789774dd47f7c8be3" UNIQUE ("email"))`,
      `CREATE TABLE "posts" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "title" varchar,
        "authorId" integer NOT NULL, CONSTRAINT "FK_c5a322ad12a7bf95460c958e80e"
        FOREIGN KEY ("authorId") REFERENCES "users" ("id") ON DELETE NO ACTION)`,
    ],
  },
  Drizzle: {
    postgres: [
      `CREATE TABLE "users" ("id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (
          sequence name "users_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1),
        "email" varchar(255) NOT NULL, "role" text DEFAULT 'USER' NOT NULL,
        "active" boolean DEFAULT true NOT NULL, "meta" jsonb,
        "createdAt" timestamp with time zone DEFAULT now() NOT NULL,
        CONSTRAINT "users_email_unique" UNIQUE("email"))`,
      `CREATE TABLE "posts" ("id" bigserial PRIMARY KEY NOT NULL, "authorId" integer NOT NULL,
        "title" text)`,
      `ALTER TABLE "posts" ADD CONSTRAINT "posts_authorId_users_id_fk" FOREIGN KEY ("authorId")
        REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action`,
    ],
    mysql: [
      `CREATE TABLE \`users\` (\`id\` bigint unsigned AUTO_INCREMENT NOT NULL,
        \`email\` varchar(255) NOT NULL, \`role\` enum('USER','ADMIN') NOT NULL DEFAULT 'USER',
        \`active\` boolean NOT NULL DEFAULT true, \`meta\` json,
        \`createdAt\` timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
        CONSTRAINT \`users_id\` PRIMARY KEY(\`id\`),
        CONSTRAINT \`users_email_unique\` UNIQUE(\`email\`))`,
      `CREATE TABLE \`posts\` (\`id\` int AUTO_INCREMENT NOT NULL,
        \`authorId\` bigint unsigned NOT NULL, \`title\` text,
        CONSTRAINT \`posts_id\` PRIMARY KEY(\`id\`))`,
      `ALTER TABLE \`posts\` ADD CONSTRAINT \`posts_authorId_users_id_fk\`
        FOREIGN KEY (\`authorId\`) REFERENCES \`users\`(\`id\`)
        ON DELETE no action ON UPDATE no action`,
    ],
    sqlite: [
      `CREATE TABLE \`users\` (\`id\` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
        \`email\` text NOT NULL, \`role\` text DEFAULT 'USER' NOT NULL,
        \`active\` integer DEFAULT true NOT NULL, \`meta\` text, \`createdAt\` text NOT NULL)`,
      `CREATE UNIQUE INDEX \`users_email_unique\` ON \`users\` (\`email\`)`,
      `CREATE TABLE \`posts\` (\`id\` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
        \`authorId\` integer NOT NULL, \`title\` text,
        FOREIGN KEY (\`authorId\`) REFERENCES \`users\`(\`id\`)
        ON UPDATE no action ON DELETE no action)`,
    ],
  },
};

for (const [tool, statements] of Object.entries(TOOLS)) {
  testOnEach(`tables of ${tool} are read and written, and checked`, async ({ brand, url }) => {
    await using db = await Blog.open(DbOptions.fromUrl(url));
    for (const statement of statements[brand]) await sql.raw(statement).execute(db.kysely);
    await db.checkTables();
    const createdAt = new Date("2024-03-10T02:30:00.001Z");
    const meta = { a: [1, null, "x"] };
    const author = await db.user.create({ data: { email: "ada@example.org", meta, createdAt } });
    assert.deepEqual(author, {
      id: 1,
      email: "ada@example.org",
      role: "USER",
      active: true,
      meta,
      createdAt,
    });
    await db.post.createMany({ data: [{ authorId: 1, title: "one" }, { authorId: 1 }] });
    assert.deepEqual(
      await db.post.findMany({ where: { title: null }, include: { author: true } }),
      [{ id: 2, authorId: 1, title: null, author }],
    );
    assert.equal(await db.user.count({ where: { createdAt, active: true, role: "USER" } }), 1);
  });
}
