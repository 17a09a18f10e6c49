/**
 * The options of a documentation page.
 *
 * @module
 */

/** The user interface of the page. */
export type DocsUi = "swagger-ui" | "scalar";

/**
 * The client that signs users in from the documentation page: a public client (PKCE),
 * never a secret.
 */
export interface DocsSignIn {
  /**
   * Its id, which is visible to everyone who opens the page. Swagger UI uses it for schemes of the
   * types `oauth2` and `openIdConnect`, Scalar only for `oauth2`: for the other, users enter it.
   */
  readonly clientId: string;
  /** The scopes that are selected at first; none by default. */
  readonly scopes?: readonly string[];
}

/** The options that all pages of an application share. */
export interface DocsPageOptions {
  /** The name of the API, for the title of the window. */
  readonly title: string;
  /** Its user interface. */
  readonly ui: DocsUi;
  /**
   * The base URL of a self-hosted copy of the package's files, absolute or with an absolute path,
   * in the layout of `swagger-ui-dist`, or of `@scalar/api-reference/dist/browser`. Their host is
   * trusted: they are loaded without an integrity check, as the copy can be another version.
   * `undefined` loads the pinned version from the CDN.
   */
  readonly assets: string | undefined;
  /** The client with which users sign in, if they can. */
  readonly signIn: DocsSignIn | undefined;
  /**
   * URLs (servers, token endpoints, `openIdConnectUrl`) to whose origins the page can connect, in
   * addition to its own; relative URLs belong to it. Variables of a server's URL
   * (`https://{tenant}.example.com:{port}`) can replace the first labels of the host, and the
   * port. The endpoints that a discovery document names at other origins are unknown here, and
   * must be listed too.
   */
  readonly connectTo: readonly string[];
}

/** The values of one request of the page. */
export interface DocsPageRequest {
  /** A random Base64 value of at least 128 bits. */
  readonly nonce: string;
  /** The URL of the OpenAPI document, relative to the page. */
  readonly jsonUrl: string;
  /** The URL of the {@linkcode signInRedirectPage}, relative to the page. */
  readonly redirectUrl: string;
}

/** A page, as a response. */
export interface Page {
  /** The body. */
  readonly html: string;
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}
