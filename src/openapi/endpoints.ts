/**
 * Serving the document, as JSON and as YAML, and its page.
 *
 * @module
 */
import type { Handler, Hono, Next } from "hono";
import { base64Of } from "../platform/base64.ts";
import type { Context } from "../core/http/context.ts";
import { isKnownTag } from "../core/http/entity_tag.ts";
import { NotFoundException } from "../core/http/http_exception.ts";
import { rawPath } from "../core/http/raw_path.ts";
import { docsPage, signInRedirectPage } from "./docs/docs_page.ts";
import type { DocsPageOptions, Page } from "./docs/docs_page_options.ts";
import type { OpenApiDocument } from "./openapi_document.ts";
import type { ResolvedOpenApiOptions } from "./options.ts";
import { toYaml } from "./yaml.ts";

/** A path with its handler. */
export interface OpenApiEndpoint {
  /** The path. */
  readonly path: string;
  /** Its handler. */
  readonly handler: Handler;
}

/** Returns the paths of the document, its YAML, the page, and the redirect page of its sign-in. */
export function openApiPaths({ jsonPath, docsPath }: ResolvedOpenApiOptions): {
  readonly json: string;
  readonly yaml: string;
  readonly docs: string | undefined;
  readonly signIn: string | undefined;
} {
  return {
    json: jsonPath,
    yaml: `${jsonPath.replace(/\.json$/, "")}.yaml`,
    docs: docsPath === false ? undefined : docsPath,
    signIn: docsPath === false ? undefined : `${docsPath.replace(/\/$/, "")}/oauth2-redirect`,
  };
}

/** The documents of single versions. */
export interface VersionDocuments {
  /** The versions that have one. */
  readonly versions: readonly string[];
  /** Creates the document of a version. */
  readonly describe: (version: string) => Promise<OpenApiDocument>;
}

/**
 * Creates the endpoints of a document, which is serialized once. `?version=v1` selects the document
 * of one version, which is created at its first request.
 */
export async function openApiEndpoints(
  document: OpenApiDocument,
  options: ResolvedOpenApiOptions,
  { versions, describe }: VersionDocuments,
): Promise<readonly OpenApiEndpoint[]> {
  const paths = openApiPaths(options);
  const everything = await written(document);
  const ofVersions = new Map<string, Promise<WrittenDocument>>();
  const selected = async (c: Context) => {
    const version = c.req.query("version");
    if (version === undefined) return everything;
    if (!versions.includes(version)) {
      const known = versions.join(", ") || "none";
      throw new NotFoundException(`There is no such version; the versions are ${known}`);
    }
    const created = ofVersions.get(version) ?? describe(version).then(written);
    ofVersions.set(version, created);
    return await created;
  };
  const page: DocsPageOptions = {
    title: options.title,
    ui: options.docsUi,
    assets: options.assets,
    signIn: options.docsSignIn,
    connectTo: urlsOf(options),
  };
  const endpoints: OpenApiEndpoint[] = [
    { path: paths.json, handler: async (c) => sent((await selected(c)).json, c) },
    { path: paths.yaml, handler: async (c) => sent(await (await selected(c)).yaml(), c) },
  ];
  const { docs, signIn } = paths;
  if (docs === undefined || signIn === undefined) return endpoints;
  return [
    ...endpoints,
    {
      path: docs,
      handler: (c) => {
        const version = c.req.query("version");
        const query = version === undefined ? "" : `?version=${encodeURIComponent(version)}`;
        const [jsonUrl, redirectUrl] = [relative(c, paths.json) + query, relative(c, signIn)];
        return pageResponse(docsPage(page, { nonce: freshNonce(), jsonUrl, redirectUrl }), c);
      },
    },
    {
      path: signIn,
      handler: (c) => pageResponse(signInRedirectPage(page, { nonce: freshNonce() }), c),
    },
  ];
}

/**
 * Restores the headers of the pages after all middleware: with the content security policy of other
 * responses, the user interface would not run, and its sign-in would not return.
 */
export function keepPageHeaders(router: Hono, { docsPath }: ResolvedOpenApiOptions): void {
  if (docsPath !== false) router.use(`${docsPath.replace(/\/$/, "")}/*`, keepHeaders);
}

async function keepHeaders(c: Context, next: Next): Promise<void> {
  await next();
  const headers: Page["headers"] | undefined = c.get(PAGE_HEADERS);
  const isPage = c.res.status === 200 && c.res.headers.get("content-type")?.startsWith("text/html");
  if (!headers || !isPage) return; // another response replaced the page
  for (const [name, value] of Object.entries(headers)) c.res.headers.set(name, value);
}

const PAGE_HEADERS = "fw.pageHeaders";

function pageResponse({ html, headers }: Page, c: Context): Response {
  c.set(PAGE_HEADERS, headers);
  return whole(encoded(html), headers, c);
}

/** Responds with a body and, to a HEAD, its length: servers would send 0 (RFC 9110 §8.6). */
function whole(body: Bytes, headers: Page["headers"], c: Context): Response {
  if (c.req.method === "HEAD") c.header("content-length", String(body.byteLength));
  return c.body(body, 200, { ...headers });
}

/** A text that does not change. */
interface Text {
  readonly body: Bytes;
  readonly type: string;
  /** Its entity tag, without quotes. */
  readonly tag: string;
}

/** A document as text. */
interface WrittenDocument {
  readonly json: Text;
  /** Returns it as YAML, which is written at the first call. */
  readonly yaml: () => Promise<Text>;
}

async function written(document: OpenApiDocument): Promise<WrittenDocument> {
  const json = encoded(JSON.stringify(document));
  const tag = await digestOf(json);
  let yaml: Promise<Text> | undefined;
  const toText = (text: string): Text => ({
    body: encoded(text),
    type: "application/yaml",
    tag: `${tag}-yaml`,
  });
  return {
    json: { body: json, type: "application/json", tag },
    yaml: () => yaml ??= toYaml(document).then(toText),
  };
}

/** Sends a text, or 304 to a client that has it (RFC 9110 §13.1.2). */
function sent({ body, type, tag }: Text, c: Context): Response {
  const headers = { "content-type": type, etag: `"${tag}"`, "cache-control": "no-cache" };
  const isKnown = isKnownTag(headers.etag, c.req.header("if-none-match"));
  return isKnown ? c.body(null, 304, headers) : whole(body, headers, c);
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Encodes a text once for all responses. */
function encoded(text: string): Bytes {
  return new TextEncoder().encode(text);
}

async function digestOf(bytes: Bytes): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return base64Of(new Uint8Array(digest)).replaceAll("=", "");
}

function freshNonce(): string {
  return base64Of(crypto.getRandomValues(new Uint8Array(18)));
}

/**
 * Returns the URL of a path relative to that of the request, as a proxy can serve both
 * below another path.
 */
function relative(c: Context, path: string): string {
  const depth = rawPath(c.req.url).split("/").length - 2;
  return `${depth > 0 ? "../".repeat(depth) : "./"}${path.slice(1)}`;
}

/**
 * Returns the URLs to which the page sends requests: of servers, and token endpoints of
 * security schemes.
 */
function urlsOf({ servers = [], components }: ResolvedOpenApiOptions): readonly string[] {
  const schemes = Object.values(components?.securitySchemes ?? {});
  const ofSchemes = schemes.flatMap((scheme) => {
    if (scheme.type === "openIdConnect") return [scheme.openIdConnectUrl];
    if (scheme.type !== "oauth2") return [];
    return Object.values(scheme.flows).flatMap((flow) => [
      "tokenUrl" in flow ? flow.tokenUrl : undefined,
      flow.refreshUrl,
    ]);
  });
  return [...servers.map(({ url }) => url), ...ofSchemes].filter((url) => url !== undefined);
}
