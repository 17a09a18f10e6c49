/** What the types of the users document let pass, and what they refuse. */

/** Lines of a program, and the one error that they are to have: its code, and words of its message. */
export interface Snippet {
  readonly code: string;
  readonly error: readonly [code: string, words: string];
}

/** The head of every snippet. */
export const PRELUDE = `import createClient from "openapi-fetch";
import type { components, operations, paths } from "./users_document.ts";
const client = createClient<paths>();
const one = { params: { path: { id: 1 } } };
`;

/** A program that compiles only if the types are these. */
export const EXACT_TYPES = `${PRELUDE}
import { same } from "./same.ts";

interface User {
  id: number;
  email: string;
  name: string;
  active: boolean;
}
interface Problem {
  type: string;
  title: string;
  status: number;
  detail?: string;
  instance: string;
  requestId?: string;
  errors?: { in: "body" | "query" | "path" | "header"; field: string; message: string }[];
}

const created = await client.POST("/api/v1/users", { body: { email: "", name: "" } });
const listed = await client.GET("/api/v1/users");
const found = await client.GET("/api/v1/users/{id}", one);
const changed = await client.PATCH("/api/v1/users/{id}", { ...one, body: {} });
const deleted = await client.DELETE("/api/v1/users/{id}", one);

same<typeof created.data, User | undefined>();
same<typeof listed.data, User[] | undefined>();
same<typeof found.data, User | undefined>();
same<typeof changed.data, User | undefined>();
same<typeof deleted.data, User | undefined>();

same<typeof created.error, Problem | undefined>();
same<typeof listed.error, Problem | undefined>();
same<typeof found.error, Problem | undefined>();
same<typeof changed.error, Problem | undefined>();
same<typeof deleted.error, Problem | undefined>();

same<components["schemas"]["CreateUserDto"], { email: string; name: string }>();
same<components["schemas"]["UpdateUserDto"], { name?: string; active?: boolean }>();
same<operations["AppModule.UsersController.one"]["parameters"]["path"], { id: number }>();
same<
  operations["AppModule.UsersController.list"]["parameters"]["query"],
  { skip?: number; take?: number } | undefined
>();
same<keyof paths, "/api/v1/users" | "/api/v1/users/{id}">();
same<keyof components["schemas"], "CreateUserDto" | "UpdateUserDto" | "UserRow" | "ProblemDetails" | "ValidationIssue">();

if (found.error) same<typeof found.data, undefined>();
else same<typeof found.data, User>();
`;

/** Programs that do not compile, by their mistake. */
export const REFUSED: Readonly<Record<string, Snippet>> = {
  "a misspelt path": {
    code: 'client.GET("/api/v1/user", {});',
    error: ["TS2345", '"/api/v1/user"'],
  },
  "a path as the framework writes it": {
    code: 'client.GET("/api/v1/users/:id", one);',
    error: ["TS2345", '"/api/v1/users/:id"'],
  },
  "a method that the path does not have": {
    code: 'client.DELETE("/api/v1/users", {});',
    error: ["TS2345", '"/api/v1/users"'],
  },
  "no body": {
    code: 'client.POST("/api/v1/users", {});',
    error: ["TS2345", "Property 'body' is missing"],
  },
  "a body without a name": {
    code: 'client.POST("/api/v1/users", { body: { email: "tom@example.com" } });',
    error: ["TS2322", "Property 'name' is missing"],
  },
  "a name that is a number": {
    code: 'client.POST("/api/v1/users", { body: { email: "tom@example.com", name: 1 } });',
    error: ["TS2322", "Type 'number' is not assignable to type 'string'"],
  },
  "an unknown field": {
    // openapi-fetch intersects bodies with {}, so that in its calls unknown fields pass
    code: 'const body: components["schemas"]["UpdateUserDto"] = { nmae: "Tom" };',
    error: ["TS2353", "'nmae' does not exist"],
  },
  "null for an optional field": {
    code: 'client.PATCH("/api/v1/users/{id}", { ...one, body: { name: null } });',
    error: ["TS2322", "Type 'null' is not assignable to type 'string"],
  },
  "a body where none is read": {
    code: 'client.DELETE("/api/v1/users/{id}", { ...one, body: {} });',
    error: ["TS2322", "not assignable to type 'undefined'"],
  },
  "no id": {
    code: 'client.GET("/api/v1/users/{id}", {});',
    error: ["TS2345", "Property 'params' is missing"],
  },
  "no path parameters": {
    code: 'client.GET("/api/v1/users/{id}", { params: {} });',
    error: ["TS2741", "Property 'path' is missing"],
  },
  "an id that is text": {
    code: 'client.GET("/api/v1/users/{id}", { params: { path: { id: "1" } } });',
    error: ["TS2322", "Type 'string' is not assignable to type 'number'"],
  },
  "a take that is text": {
    code: 'client.GET("/api/v1/users", { params: { query: { take: "20" } } });',
    error: ["TS2322", "Type 'string' is not assignable to type 'number"],
  },
  "an unknown query parameter": {
    code: 'client.GET("/api/v1/users", { params: { query: { page: 2 } } });',
    error: ["TS2353", "'page' does not exist"],
  },
  "data that may be missing": {
    code: 'const { data } = await client.GET("/api/v1/users/{id}", one);\ndata.name;',
    error: ["TS18048", "'data' is possibly 'undefined'"],
  },
  "data of a refused call": {
    code: 'const { data, error } = await client.GET("/api/v1/users/{id}", one);\n' +
      "if (error) data.name;",
    error: ["TS18048", "'data' is possibly 'undefined'"],
  },
  "a property of data that is not declared": {
    code: 'const { data } = await client.GET("/api/v1/users/{id}", one);\ndata?.tenant_id;',
    error: ["TS2339", "Property 'tenant_id' does not exist"],
  },
  "a list that is taken for a user": {
    code: 'const { data } = await client.GET("/api/v1/users");\ndata?.name;',
    error: ["TS2339", "Property 'name' does not exist on type '{ id: number;"],
  },
  "a title that is taken for a number": {
    code: 'const { error } = await client.GET("/api/v1/users/{id}", one);\n' +
      "if (error) { const title: number = error.title; }",
    error: ["TS2322", "Type 'string' is not assignable to type 'number'"],
  },
  "a detail that may be missing": {
    code: 'const { error } = await client.GET("/api/v1/users/{id}", one);\n' +
      "if (error) { const detail: string = error.detail; }",
    error: ["TS2322", "Type 'undefined' is not assignable to type 'string'"],
  },
  "a property of a problem that is not declared": {
    code: 'const { error } = await client.GET("/api/v1/users/{id}", one);\nerror?.code;',
    error: ["TS2339", "Property 'code' does not exist"],
  },
  "a place that no input comes from": {
    code: 'const { error } = await client.GET("/api/v1/users/{id}", one);\n' +
      'if (error?.errors?.[0]?.in === "cookie") throw error;',
    error: ["TS2367", "have no overlap"],
  },
  "a status that the operation does not have": {
    code: 'type One = operations["AppModule.UsersController.one"];\n' +
      'const status: keyof One["responses"] = 409;',
    error: ["TS2322", "Type '409' is not assignable to type"],
  },
  "an operation id that is none": {
    code: 'type One = operations["UsersController.one"];',
    error: ["TS2339", "Property 'UsersController.one' does not exist"],
  },
};
