/**
 * The types of OpenAPI 3.1 documents (https://spec.openapis.org/oas/v3.1.1), as far as they
 * are created here.
 *
 * @module
 */
import type { JsonSchema } from "./json_schema/json_schema.ts";

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument {
  /** The version of the specification. */
  readonly openapi: "3.1.1";
  /** About the API. */
  readonly info: InfoObject;
  /** The servers of the API. */
  readonly servers?: readonly ServerObject[];
  /** The operations, by path template and method. */
  readonly paths: Readonly<Record<string, PathItemObject>>;
  /** The components to which operations refer. */
  readonly components?: ComponentsObject;
  /** The requirements of operations without their own. */
  readonly security?: readonly SecurityRequirementObject[];
  /** The descriptions of tags. */
  readonly tags?: readonly TagObject[];
}

/** About an API. */
export interface InfoObject {
  /** The name of the API. */
  readonly title: string;
  /** The version of the API. */
  readonly version: string;
  /** One line of text. */
  readonly summary?: string;
  /** Several lines, in CommonMark. */
  readonly description?: string;
  /** The URL of the terms of service. */
  readonly termsOfService?: string;
  /** The contact for questions. */
  readonly contact?: { readonly name?: string; readonly url?: string; readonly email?: string };
  /** The license, with an SPDX identifier or a URL. */
  readonly license?: { readonly name: string; readonly identifier?: string; readonly url?: string };
}

/** A server of an API. */
export interface ServerObject {
  /** Its URL, absolute or relative to the document, with `{variables}`. */
  readonly url: string;
  /** Its purpose. */
  readonly description?: string;
  /** The variables of the URL. */
  readonly variables?: Readonly<
    Record<
      string,
      { readonly default: string; readonly enum?: readonly string[]; readonly description?: string }
    >
  >;
}

/** The description of a tag. */
export interface TagObject {
  /** The tag. */
  readonly name: string;
  /** What its operations share, in CommonMark. */
  readonly description?: string;
  /** More documentation. */
  readonly externalDocs?: { readonly url: string; readonly description?: string };
}

/** Security schemes by name, with scopes; a caller needs all of them, and none for `{}`. */
export type SecurityRequirementObject = Readonly<Record<string, readonly string[]>>;

/** How callers authenticate. */
export type SecuritySchemeObject =
  & { readonly description?: string }
  & (
    | { readonly type: "http"; readonly scheme: string; readonly bearerFormat?: string }
    | {
      readonly type: "apiKey";
      readonly name: string;
      readonly in: "query" | "header" | "cookie";
    }
    | { readonly type: "oauth2"; readonly flows: OAuthFlowsObject }
    | { readonly type: "openIdConnect"; readonly openIdConnectUrl: string }
    | { readonly type: "mutualTLS" }
  );

/** The flows of OAuth 2.0 that issue tokens. */
export interface OAuthFlowsObject {
  /** RFC 6749 §4.1, with PKCE (RFC 7636) for public clients. */
  readonly authorizationCode?: OAuthFlowObject & {
    readonly authorizationUrl: string;
    readonly tokenUrl: string;
  };
  /** RFC 6749 §4.4. */
  readonly clientCredentials?: OAuthFlowObject & { readonly tokenUrl: string };
  /** RFC 6749 §4.2, which RFC 9700 advises against. */
  readonly implicit?: OAuthFlowObject & { readonly authorizationUrl: string };
  /** RFC 6749 §4.3, which RFC 9700 forbids. */
  readonly password?: OAuthFlowObject & { readonly tokenUrl: string };
}

/** The members of all flows. */
export interface OAuthFlowObject {
  /** The meanings of the scopes. */
  readonly scopes: Readonly<Record<string, string>>;
  /** The URL of refresh requests, if it differs from the token URL. */
  readonly refreshUrl?: string;
}

/** Components to which operations refer. */
export interface ComponentsObject {
  /** Schemas: those written by hand, and those with a name. */
  readonly schemas?: Readonly<Record<string, JsonSchema>>;
  /** Responses. */
  readonly responses?: Readonly<Record<string, ResponseObject>>;
  /** How callers authenticate. */
  readonly securitySchemes?: Readonly<Record<string, SecuritySchemeObject>>;
  /** Components of other kinds. */
  readonly [kind: string]: unknown;
}

/** The methods of operations. */
export type OperationMethod = "get" | "put" | "post" | "delete" | "options" | "head" | "patch";

/** The operations of a path. */
export type PathItemObject = { readonly [method in OperationMethod]?: OperationObject };

/** One operation. */
export interface OperationObject {
  /** Its name, unique in the document. */
  readonly operationId: string;
  /** One line of text. */
  readonly summary: string;
  /** Several lines, in CommonMark. */
  readonly description?: string;
  /** The groups to which it belongs. */
  readonly tags?: readonly string[];
  /** Whether clients should stop using it. */
  readonly deprecated?: true;
  /** When it is removed: the `Sunset` of its responses (RFC 8594), in ISO 8601. */
  readonly "x-sunset"?: string;
  /** Its parameters in path, query and headers. */
  readonly parameters?: readonly ParameterObject[];
  /** The body of its requests. */
  readonly requestBody?: RequestBodyObject;
  /** Its responses, by status. */
  readonly responses: Readonly<Record<string, ResponseObject | ReferenceObject>>;
  /** The requirements of its callers, of which they meet one. */
  readonly security?: readonly SecurityRequirementObject[];
}

/** A parameter of an operation. */
export interface ParameterObject {
  /** Its name. */
  readonly name: string;
  /** Where it is. */
  readonly in: "path" | "query" | "header";
  /** Whether it is required. */
  readonly required: boolean;
  /** Its purpose, in CommonMark. */
  readonly description?: string;
  /** Whether clients should stop sending it. */
  readonly deprecated?: true;
  /** Its schema. */
  readonly schema: JsonSchema;
  /** How its value is serialized; by default `form` in a query, `simple` elsewhere. */
  readonly style?: "form";
  /** Whether the members of its value are separate parameters. */
  readonly explode?: true;
}

/** The body of a request. */
export interface RequestBodyObject {
  /** Whether it is required. */
  readonly required: boolean;
  /** Its schema, by media type. */
  readonly content: Readonly<Record<string, MediaTypeObject>>;
}

/** A response. */
export interface ResponseObject {
  /** Its meaning, in CommonMark. */
  readonly description: string;
  /** Its headers. */
  readonly headers?: Readonly<Record<string, HeaderObject>>;
  /** Its schema, by media type. */
  readonly content?: Readonly<Record<string, MediaTypeObject>>;
}

/** A header of a response. */
export interface HeaderObject {
  /** Its meaning, in CommonMark. */
  readonly description?: string;
  /** Whether it is always present. */
  readonly required?: boolean;
  /** Its schema. */
  readonly schema: JsonSchema;
}

/** A body of one media type. */
export interface MediaTypeObject {
  /** Its schema. */
  readonly schema: JsonSchema;
  /** An example of it. */
  readonly example?: unknown;
}

/** A reference to a component. */
export interface ReferenceObject {
  /** A JSON pointer into the document, such as `#/components/responses/NotFound`. */
  readonly $ref: string;
}
