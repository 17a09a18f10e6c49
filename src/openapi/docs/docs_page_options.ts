/**
 * What a documentation page is made of.
 *
 * @module
 */

/** Which user interface the page has. */
export type DocsUi = "swagger-ui" | "scalar";

/** The client that signs users in from the documentation page: a public client (PKCE), never a secret. */
export interface DocsSignIn {
  /**
   * Its id, which everybody who opens the page can read. Swagger UI takes it for schemes of the types
   * `oauth2` and `openIdConnect`, Scalar for `oauth2` alone: with the other, users type it in.
   */
  readonly clientId: string;
  /** The scopes that are chosen at first; default none. */
  readonly scopes?: readonly string[];
}

/** What the pages of an application have in common. */
export interface DocsPageOptions {
  /** The name of the API, in the title of the window. */
  readonly title: string;
  /** Its user interface. */
  readonly ui: DocsUi;
  /**
   * Base URL of a self-hosted copy of the package's files, absolute or of an absolute path: the layout
   * of `swagger-ui-dist`, or of `@scalar/api-reference/dist/browser`. Whoever hosts them is trusted:
   * they are loaded without a check of their integrity, as another version may stand there. With
   * `undefined`, the pinned version comes from the CDN.
   */
  readonly assets: string | undefined;
  /** The client that users sign in with, if they can. */
  readonly signIn: DocsSignIn | undefined;
  /**
   * URLs (servers, token endpoints, `openIdConnectUrl`) whose origins the page may call beside its own;
   * relative ones are its own. Variables of a server's URL (`https://{tenant}.example.com:{port}`) may
   * stand for the first labels of the host and for the port. What a discovery document names at a third
   * origin is not known here, and has to be given as well.
   */
  readonly connectTo: readonly string[];
}

/** What is particular to a request of the page. */
export interface DocsPageRequest {
  /** A fresh Base64 value, of at least 128 bits. */
  readonly nonce: string;
  /** The URL of the OpenAPI document, relative to the page. */
  readonly jsonUrl: string;
  /** The URL of the {@linkcode signInRedirectPage}, relative to the page. */
  readonly redirectUrl: string;
}

/** A page to answer with. */
export interface Page {
  /** The body. */
  readonly html: string;
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}
