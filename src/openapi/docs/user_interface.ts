/**
 * What a user interface brings to the documentation page.
 *
 * @module
 */
import type { Directives } from "./content_security_policy.ts";

/** A file of a package, of the version that is pinned. */
export interface PinnedFile {
  /** Its path below the package's base URL. */
  readonly path: string;
  /** What it has to be, as for the attribute `integrity` (Subresource Integrity §3.1). */
  readonly integrity: string;
}

/** What a user interface brings. */
export interface UserInterface {
  /** The base URL of the pinned files on the CDN, with a slash at its end. */
  readonly cdn: string;
  /** Its style sheet, if it is not a part of the script. */
  readonly styleSheet?: PinnedFile;
  /** Its script. */
  readonly script: PinnedFile;
  /** The script of the page that a provider sends the popup back to, if it needs one. */
  readonly redirectScript?: PinnedFile;
  /** What it needs beside scripts and styles with the nonce, and calls to where it may. */
  readonly policy: Directives;
  /** Inline script before its own, if it needs one. */
  readonly prepare?: string;
  /**
   * Inline script after its own: shows the interface in `#docs`, with {@linkcode DocsSettings} in
   * `settings`; in its scope, `absolute` resolves a URL.
   */
  readonly start: string;
  /** The name of the global variable that its script sets. */
  readonly global: string;
}

/** What the inline script reads. */
export interface DocsSettings {
  /** The name of the API. */
  readonly title: string;
  /** The URL of the OpenAPI document, relative to the page. */
  readonly jsonUrl: string;
  /** The redirect URI, relative to the page. */
  readonly redirectUrl: string;
  /** The id of the client to sign in with. */
  readonly clientId: string | undefined;
  /** The scopes that are chosen at first. */
  readonly scopes: readonly string[];
}
