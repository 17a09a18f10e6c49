/**
 * The container image of a new project.
 *
 * @module
 */
import { DENO_VERSION } from "../project/framework.ts";
import { PERMISSIONS } from "./deno_config.ts";
import type { Files, NewProject } from "./new_project.ts";

/** The command of the container: Deno itself, so that it receives signals. */
const COMMAND = `["deno", "run", "--cached-only", "--no-prompt", \\
  ${PERMISSIONS.map((flag) => `"${flag}"`).join(", ")}, \\
  "src/main.ts"]`;

const DOCKERIGNORE = `.env*
**/*.pem
.git
.github
data
node_modules
coverage
dev
Dockerfile
compose.yaml
**/*_test.ts
prove.*
`;

/** Returns `Dockerfile` and `.dockerignore`. */
export function dockerFiles(project: NewProject): Files {
  return { "Dockerfile": dockerfile(project), ".dockerignore": DOCKERIGNORE };
}

/** Returns the commands that build and run the image. */
export function dockerCommands(project: NewProject): readonly [build: string, run: string] {
  const { name, checkout } = project;
  const tag = name.toLowerCase();
  const context = checkout === undefined ? "" : `--build-context fw=${checkout} `;
  const environment = needsServers(project)
    ? "--network host --env-file .env"
    : `-p 3000:3000 ${project.authn ? "--env-file .env " : ""}-v ${tag}-data:/app/data`;
  return [`docker build ${context}-t ${tag} .`, `docker run --rm ${environment} ${tag}`];
}

/** Checks whether the application connects to servers, which listen on the host in development. */
export function needsServers({ database, oauth2 }: NewProject): boolean {
  return oauth2 || (database !== undefined && database !== "sqlite");
}

function dockerfile(project: NewProject): string {
  const { database, checkout } = project;
  const framework = checkout === undefined ? "" : `COPY --from=fw . ${checkout}\n`;
  const stored = database === "sqlite" ? "ENV DATABASE_URL=sqlite:data/data.sqlite\n" : "";
  const [build, run] = dockerCommands(project);
  return `# ${build}
# ${run}
ARG DENO_VERSION=${DENO_VERSION}

# Downloads the dependencies, again only when they change.
FROM denoland/deno:alpine-\${DENO_VERSION} AS build
WORKDIR /app
${framework}COPY deno.json deno.lock* ./
RUN deno install
COPY . .
RUN deno install --entrypoint src/main.ts

FROM denoland/deno:alpine-\${DENO_VERSION}
WORKDIR /app
${framework}COPY --from=build --chown=deno:deno /deno-dir /deno-dir
COPY --from=build /app ./
RUN mkdir -p data && chown deno:deno data
VOLUME /app/data
USER deno
# Behind a proxy, run it with -e TRUSTED_PROXY_HOPS=1: see .env.example.
ENV FW_ENV=production HOST=0.0.0.0 PORT=3000 TRUSTED_PROXY_HOPS=0
${stored}EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \\
  CMD wget -q -O /dev/null "http://127.0.0.1:\${PORT}/health" || exit 1
CMD ${COMMAND}
`;
}
