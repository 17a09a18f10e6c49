/**
 * OpenAPI 3.1 documents (https://spec.openapis.org/oas/v3.1.1), as far as they are made here.
 *
 * @module
 */
import type { JsonSchema } from "./json_schema/json_schema.ts";

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument {
  /** The version of the specification. */
  readonly openapi: "3.1.1";
  /** What it describes. */
  readonly info: InfoObject;
  /** Where the API is served. */
  readonly servers?: readonly ServerObject[];
  /** The operations, by path template and method. */
  readonly paths: Readonly<Record<string, PathItemObject>>;
  /** What several operations refer to. */
  readonly components?: ComponentsObject;
  /** What every operation needs that does not say otherwise. */
  readonly security?: readonly SecurityRequirementObject[];
  /** What is said of tags. */
  readonly tags?: readonly TagObject[];
}

/** What a document describes. */
export interface InfoObject {
  /** The name of the API. */
  readonly title: string;
  /** The version of the API. */
  readonly version: string;
  /** One line. */
  readonly summary?: string;
  /** More than one line, in CommonMark. */
  readonly description?: string;
  /** URL of the terms of service. */
  readonly termsOfService?: string;
  /** Whom to ask. */
  readonly contact?: { readonly name?: string; readonly url?: string; readonly email?: string };
  /** The license, by its SPDX identifier or a URL. */
  readonly license?: { readonly name: string; readonly identifier?: string; readonly url?: string };
}

/** Where an API is served. */
export interface ServerObject {
  /** Its URL, which may be relative to the document, with `{variables}`. */
  readonly url: string;
  /** What it is for. */
  readonly description?: string;
  /** The variables of the URL. */
  readonly variables?: Readonly<
    Record<
      string,
      { readonly default: string; readonly enum?: readonly string[]; readonly description?: string }
    >
  >;
}

/** What is said of a tag. */
export interface TagObject {
  /** The tag. */
  readonly name: string;
  /** What its operations have in common, in CommonMark. */
  readonly description?: string;
  /** Where more is said. */
  readonly externalDocs?: { readonly url: string; readonly description?: string };
}

/** Security schemes by name, all of which a caller needs, each with its scopes; `{}` needs none. */
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

/** How tokens are got, by OAuth 2.0 flow. */
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

/** What is common to all flows. */
export interface OAuthFlowObject {
  /** What the scopes mean. */
  readonly scopes: Readonly<Record<string, string>>;
  /** The URL of refresh requests, where it is not the token URL. */
  readonly refreshUrl?: string;
}

/** What several operations refer to. */
export interface ComponentsObject {
  /** Schemas: those with a name are added to what stands here by hand. */
  readonly schemas?: Readonly<Record<string, JsonSchema>>;
  /** Responses. */
  readonly responses?: Readonly<Record<string, ResponseObject>>;
  /** How callers authenticate. */
  readonly securitySchemes?: Readonly<Record<string, SecuritySchemeObject>>;
  /** Components of other kinds. */
  readonly [kind: string]: unknown;
}

/** The methods an operation may have. */
export type OperationMethod = "get" | "put" | "post" | "delete" | "options" | "head" | "patch";

/** The operations of a path. */
export type PathItemObject = { readonly [method in OperationMethod]?: OperationObject };

/** One operation. */
export interface OperationObject {
  /** Its name, of no other operation. */
  readonly operationId: string;
  /** One line. */
  readonly summary: string;
  /** More than one line, in CommonMark. */
  readonly description?: string;
  /** What it belongs to. */
  readonly tags?: readonly string[];
  /** Whether clients should move away from it. */
  readonly deprecated?: true;
  /** What it takes in path, query and headers. */
  readonly parameters?: readonly ParameterObject[];
  /** The body it takes. */
  readonly requestBody?: RequestBodyObject;
  /** What it answers, by status. */
  readonly responses: Readonly<Record<string, ResponseObject | ReferenceObject>>;
  /** What its callers need, any one of these. */
  readonly security?: readonly SecurityRequirementObject[];
}

/** A parameter of an operation. */
export interface ParameterObject {
  /** Its name. */
  readonly name: string;
  /** Where it is. */
  readonly in: "path" | "query" | "header";
  /** Whether it has to be there. */
  readonly required: boolean;
  /** What it is for, in CommonMark. */
  readonly description?: string;
  /** Whether clients should not send it any more. */
  readonly deprecated?: true;
  /** Its schema. */
  readonly schema: JsonSchema;
  /** How its value becomes text; by default `form` in a query, else `simple`. */
  readonly style?: "form";
  /** Whether the members of its value are parameters of their own. */
  readonly explode?: true;
}

/** The body of a request. */
export interface RequestBodyObject {
  /** Whether it has to be there. */
  readonly required: boolean;
  /** Its schema, by media type. */
  readonly content: Readonly<Record<string, MediaTypeObject>>;
}

/** A response. */
export interface ResponseObject {
  /** What it means, in CommonMark. */
  readonly description: string;
  /** Its headers. */
  readonly headers?: Readonly<Record<string, HeaderObject>>;
  /** Its schema, by media type. */
  readonly content?: Readonly<Record<string, MediaTypeObject>>;
}

/** A header of a response. */
export interface HeaderObject {
  /** What it means, in CommonMark. */
  readonly description?: string;
  /** Whether it is always there. */
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
