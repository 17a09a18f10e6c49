/**
 * The environment of a new project: `.env` and `.env.example`.
 *
 * @module
 */
import { type Database, databaseName, DEVELOPMENT_PASSWORDS } from "../project/database.ts";
import { createPassword, createSigningKey, NEW_KEY } from "./tokens.ts";
import type { Files, NewProject } from "./new_project.ts";

/** A variable of the environment. */
export interface Variable {
  /** Its name. */
  readonly name: string;
  /** The value in development. */
  readonly value: string;
  /** The description, as lines. */
  readonly about: readonly string[];
  /** Whether it is optional: `.env.example` has it as a comment. */
  readonly isOptional?: boolean;
  /** Whether the value is a secret: `.env.example` has the name only. */
  readonly isSecret?: boolean;
}

/** Returns `.env`, which git ignores, and `.env.example`. */
export function environmentFiles(project: NewProject): Files {
  const variables = variablesOf(project);
  const needed = variables.filter(({ isOptional }) => !isOptional);
  return {
    ".env": needed.map(({ name, value }) => `${name}=${value}\n`).join(""),
    ".env.example": variables.map(describeVariable).join("\n"),
  };
}

/** Returns the variables of a database. */
export function databaseVariables(database: Database, name: string): readonly Variable[] {
  const url = databaseUrl(database, name);
  const about = ["The URL of the database, which begins with postgres:, mysql: or sqlite:."];
  const variable: Variable = { name: "DATABASE_URL", value: url, about };
  if (database === "sqlite") return [variable];
  return [variable, {
    name: "TEST_DATABASE_URL",
    value: databaseUrl(database, `${name}_test`),
    about: [
      "An empty database, in which tests run the migrations and roll them back.",
      "Without it, these tests are skipped.",
    ],
    isOptional: true,
  }];
}

/** Returns the lines of a variable in `.env.example`. */
export function describeVariable(
  { name, value, about, isOptional = false, isSecret = false }: Variable,
): string {
  const lines = about.map((line) => `# ${line}\n`).join("");
  return `${lines}${isOptional ? "# " : ""}${name}=${isSecret ? "" : value}\n`;
}

function databaseUrl(database: Database, name: string): string {
  switch (database) {
    case "postgres":
      return `postgres://postgres:${DEVELOPMENT_PASSWORDS.postgres}@127.0.0.1:5432/${name}`;
    case "mysql":
      return `mysql://root:${DEVELOPMENT_PASSWORDS.mysql}@127.0.0.1:3306/${name}`;
    case "sqlite":
      return "sqlite:data/data.sqlite";
  }
}

function variablesOf(project: NewProject): readonly Variable[] {
  return [
    {
      name: "PORT",
      value: "3000",
      about: ["The port to listen on, 0 to 65535; default 3000."],
    },
    {
      name: "TRUSTED_PROXY_HOPS",
      value: "0",
      about: [
        "The number of proxies that every request passes, such as 1 behind nginx; default 0.",
        "If it is too low, all clients share the rate limit of a proxy; if it is too high, or if a",
        "client can bypass the proxies, it can forge its address.",
      ],
    },
    {
      name: "HOST",
      value: "127.0.0.1",
      about: ["The address to listen on; default all addresses of the machine."],
      isOptional: true,
    },
    {
      name: "FW_ENV",
      value: "production",
      about: [
        "production: 5xx responses do not reveal errors, and logs are JSON.",
        "development, as `deno task dev` sets it: 5xx responses contain the messages of errors.",
      ],
      isOptional: true,
    },
    ...project.database ? databaseVariables(project.database, databaseName(project.name)) : [],
    ...project.oauth2 ? oauth2Variables(project) : [],
    ...project.authn ? authnVariables() : [],
  ];
}

function oauth2Variables({ name }: NewProject): readonly Variable[] {
  return [
    {
      name: "OAUTH2_ISSUER",
      value: "http://127.0.0.1:4000",
      about: [
        "The issuer of access tokens: their `iss`.",
        "`deno task idp` runs an identity provider for development at this address.",
      ],
    },
    {
      name: "OAUTH2_JWKS_URL",
      value: "http://127.0.0.1:4000/jwks",
      about: ["The URL of the public keys that verify tokens."],
    },
    {
      name: "OAUTH2_AUDIENCE",
      value: name,
      about: ["The audience of access tokens: their `aud`."],
    },
    {
      name: "OAUTH2_TOKEN_TYPE",
      value: "at+jwt",
      about: [
        "The type of access tokens: their `typ`. Some providers issue JWT, also for ID tokens:",
        "their audience must then be another.",
      ],
      isOptional: true,
    },
  ];
}

function authnVariables(): readonly Variable[] {
  return [
    {
      name: "JWT_KEY",
      value: createSigningKey(),
      about: [
        "The private key that signs the tokens of the application: PEM, with \\n for each line break.",
        `Create one for each environment: ${NEW_KEY}`,
      ],
      isSecret: true,
    },
    {
      name: "ADMIN_PASSWORD",
      value: createPassword(),
      about: ["The password of the user admin."],
      isSecret: true,
    },
  ];
}
