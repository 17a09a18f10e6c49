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
deno task dev     # serve, and begin anew when a file changes
deno task test    # run the tests
deno task ok      # formatting, lint, types and tests: before a commit
deno task fw -h   # generate code, look at routes, check the project
\`\`\`

| path            | what is there                                    |
| --------------- | ------------------------------------------------ |
| \`/api/\`         | the routes: a greeting, to begin with            |
| \`/docs\`         | their documentation, to read and try             |
| \`/openapi.json\` | the same as an OpenAPI 3.1 document              |
| \`/health\`       | whether the application is well                  |
| \`/metrics\`      | how many requests there were, and how long they took |

The address, and all else that differs between machines, is in \`.env\`, which is not in the
repository: in a fresh clone, \`cp .env.example .env\`. There each variable is explained.
${project.database ? database(project) : ""}${project.oauth2 ? OAUTH2 : ""}${
    project.authn ? AUTHN : ""
  }
## The next piece of code

\`\`\`sh
deno task fw generate resource cat   # a whole CRUD: routes, service, model, migration, tests
deno task fw generate --help         # everything that can be generated
\`\`\`

## In a container

\`\`\`sh
${dockerCommands(project).join("\n")}
\`\`\`
${needsServers(project) ? NETWORK : ""}`;
}

/** Variables that have another meaning in a container. */
const NETWORK = `
\`127.0.0.1\` in \`.env\` is the host only because of \`--network host\`. Where the application is
deployed, set the variables of \`.env.example\` to the addresses of its servers there.
`;

function database({ database }: NewProject): string {
  const start = database === "sqlite"
    ? "The database is a SQLite file in `data`."
    : `\`docker compose up -d\` starts a database for development, at the \`DATABASE_URL\` of \`.env\`.
Tests need no server, but for that of the migrations, which has \`TEST_DATABASE_URL\`.`;
  return `
## Database

${start} The migrations in \`migrations\` are run when the application starts.

\`\`\`sh
deno task fw db status     # which migrations have run
deno task fw db migrate    # run those that are due, without starting the application
deno task fw db rollback   # undo the last one
deno task fw db new NAME   # begin a new one
\`\`\`
`;
}

const OAUTH2 = `
## Tokens

Every route needs an access token, unless it says \`public: true\`. In development, \`deno task idp\`
runs an identity provider and prints a token:

\`\`\`sh
curl http://localhost:3000/api/me -H "Authorization: Bearer $TOKEN"
\`\`\`
`;

const AUTHN = `
## Tokens of the application

Every route needs a token, unless it declares \`public: true\`. \`POST /api/session\` returns one, which
is valid for 15 minutes, for the user \`admin\` and the \`ADMIN_PASSWORD\` of \`.env\`:

\`\`\`sh
PASSWORD=$(sed -n 's/^ADMIN_PASSWORD=//p' .env)
curl http://localhost:3000/api/session --json '{"name":"admin","password":"'$PASSWORD'"}'
curl http://localhost:3000/api/me -H "Authorization: Bearer $TOKEN"
\`\`\`

Replace \`CredentialsService\` with a look-up of your users. \`JWT_KEY\` signs the tokens: who has it can
sign tokens too. \`fw new\` created the one in \`.env\`, which is not in the repository. Create
another one for each environment:

\`\`\`sh
${NEW_KEY}
\`\`\`
`;
