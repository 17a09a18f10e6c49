/**
 * The README of a new project.
 *
 * @module
 */
import { dockerCommands, needsServers } from "./docker.ts";
import type { NewProject } from "./new_project.ts";
import { NEW_KEY } from "./tokens.ts";

/** Returns `README.md`. */
export function readme(project: NewProject): string {
  return `# ${project.title}

\`\`\`sh
deno task dev        # serve, and restart when a file changes
deno task test       # run the tests
deno task ok         # formatting, lint, types and tests: before a commit
deno task fw prove   # test the application by what it declares: prove.ts
deno task fw -h      # generate code, list routes, check the project
\`\`\`

| path            | contents                                         |
| --------------- | ------------------------------------------------ |
| \`/api/\`         | the routes: a greeting                           |
| \`/docs\`         | their documentation                              |
| \`/openapi.json\` | the OpenAPI 3.1 document                         |
| \`/health\`       | the health of the application                    |
| \`/metrics\`      | metrics for Prometheus                           |

Variables are in \`.env\`, which git ignores. In a fresh clone, run
\`install -m 600 .env.example .env\`; that file explains each variable.

## Limits

| what     | default                                           | in                      |
| -------- | ------------------------------------------------- | ----------------------- |
| requests | 1000 of a client in a minute, then 429            | \`setUp\`, \`src/app.ts\` |
| time     | 30 s until a response begins, then 504            | \`setUp\`, \`src/app.ts\` |
| bodies   | 1 MiB, then 413; routes can raise it              | \`bodyLimit\` of a route |

Responses that stream, events and WebSockets last as long as they need, and so do uploads: the
routes with a \`bodyLimit\` over 1 MiB have no time limit. A client is an IP address. Behind a proxy, set
\`TRUSTED_PROXY_HOPS\` to the number of proxies: else all clients share the limit of the proxy.
${project.authn ? LOGINS : ""}${project.database ? database(project) : ""}${
    project.oauth2 || project.authn ? tokens(project) : ""
  }
## Adding code

\`\`\`sh
deno task fw generate resource cat   # a whole CRUD: routes, service, model, migration, tests
deno task fw generate --help         # all kinds of code
\`\`\`

## Calling it

Programs in TypeScript, such as a web page, call the routes with their types; nothing is generated:

\`\`\`ts
import { createClient } from "@fw/fw/client";
import type { Api } from "./src/app.ts";

const api = createClient<Api>("http://localhost:3000/api");
\`\`\`

## In a container

\`\`\`sh
${dockerCommands(project).join("\n")}
\`\`\`
${needsServers(project) ? NETWORK : ""}`;
}

const LOGINS = `
\`POST /api/session\` is limited to 10 requests of a client in a minute.
`;

/** Variables that have another meaning in a container. */
const NETWORK = `
With \`--network host\`, \`127.0.0.1\` in \`.env\` is the host. In a deployment, set the variables of
\`.env.example\` to the addresses of the servers there.
`;

function database({ database }: NewProject): string {
  const start = database === "sqlite"
    ? "The database is a SQLite file in `data`."
    : `\`docker compose up -d\` starts a database for development, at the \`DATABASE_URL\` of \`.env\`.
Tests need no server, except that of the migrations, which uses \`TEST_DATABASE_URL\`.`;
  return `
## Database

${start} The application runs the migrations in \`migrations\` when it starts.

\`\`\`sh
deno task fw db status     # list the migrations
deno task fw db migrate    # run the pending ones, without starting the application
deno task fw db rollback   # roll back the last one, after a prompt
deno task fw db new NAME   # create an empty one
\`\`\`
`;
}

function tokens({ oauth2, authn }: NewProject): string {
  return `
## Tokens

Every route needs an access token, unless it declares \`public: true\`.
${oauth2 ? OAUTH2 : ""}${authn ? AUTHN : ""}`;
}

const OAUTH2 = `
In development, \`deno task idp\` runs an identity provider and prints a token:

\`\`\`sh
TOKEN='the printed token'
curl http://localhost:3000/api/me -H "Authorization: Bearer $TOKEN"
\`\`\`
`;

const AUTHN = `
\`POST /api/session\` returns a token of the application, which is valid for 15 minutes, for the user
\`admin\` and the \`ADMIN_PASSWORD\` of \`.env\`:

\`\`\`sh
PASSWORD=$(sed -n 's/^ADMIN_PASSWORD=//p' .env)
TOKEN=$(curl -s http://localhost:3000/api/session \\
  --json '{"name":"admin","password":"'$PASSWORD'"}' | cut -d '"' -f 4)
curl http://localhost:3000/api/me -H "Authorization: Bearer $TOKEN"
\`\`\`

Replace \`CredentialsService\` with a query of your users. \`JWT_KEY\` signs the tokens: keep it
secret. \`fw new\` created the one in \`.env\`, which git ignores. Create another one for each
environment:

\`\`\`sh
${NEW_KEY}
\`\`\`
`;
