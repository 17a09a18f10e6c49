/**
 * Schemas of arktype (https://arktype.io).
 *
 * @module
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import {
  type LibraryIssue,
  mergedProperties,
  type SchemaLibrary,
  type SchemaProperties,
} from "./schema_library.ts";

/** The members of a type of arktype that are used here. */
interface ArkType extends StandardSchemaV1 {
  /** Its definition. */
  readonly json: unknown;
  /** All types in its definition, and those that it only names, such as recursive ones. */
  readonly references: readonly { readonly json: unknown }[];
  /** The type of its input, without morphs. */
  readonly in: ArkType;
  /** The properties of an object; throws if it is another type. */
  readonly props: readonly { readonly key: unknown; readonly value: StandardSchemaV1 }[];
  /** Maps the branches of a union, or the type itself. */
  distribute<T>(map: (branch: ArkType) => T): readonly T[];
  /** Returns the type of lists of it. */
  array(): ArkType;
  /** Returns the type with another behavior for undeclared keys, as deep as possible. */
  onDeepUndeclaredKey(behavior: "delete"): ArkType;
}

/** Objects keep undeclared keys unless they declare `"+"`, and accept arrays. */
export const ARKTYPE: SchemaLibrary<ArkType> = {
  owns: (schema): schema is ArkType =>
    schema["~standard"].vendor === "arktype" && "onDeepUndeclaredKey" in schema,
  acceptsArrayAsObject: (type) => type.in.distribute(isObject).every(Boolean),
  stripping,
  propertiesOf: (type) => mergedProperties(type.distribute(propertiesOf)),
  transforms: (type) => type.distribute(isMorph).some(Boolean),
  expectsList: ({ expected }) => /\barray\b|^an object or /.test(String(expected)),
  messageOf,
};

function stripping(type: ArkType): StandardSchemaV1 | undefined {
  if (!anyKeepsUndeclared(type)) return withoutMethods(type);
  try {
    const stripped = type.onDeepUndeclaredKey("delete");
    // recursive types and morphs keep them
    return anyKeepsUndeclared(stripped) ? undefined : withoutMethods(stripped);
  } catch {
    return undefined; // a union whose branches would then overlap
  }
}

/**
 * Returns the schema with plain objects in its output where it declares keys: arktype's copies keep
 * the methods of their originals, of which `toJSON` could send what was dropped.
 */
function withoutMethods(type: ArkType): StandardSchemaV1 {
  const { "~standard": standard, json } = type;
  // a union would delete undeclared keys of the value itself, in a list of a copy
  const list = type.array()["~standard"];
  const validate = (value: unknown) => {
    const result = list.validate([value]) as StandardSchemaV1.Result<unknown[]>; // no promise
    return result.issues ? standard.validate(value) : { value: plainCopy(result.value[0], json) };
  };
  return { "~standard": { ...standard, validate } };
}

/** The definition of a type, as far as it is used here: of an object, or of a list. */
interface Definition {
  readonly required?: readonly { readonly key: string; readonly value: unknown }[];
  readonly optional?: Definition["required"];
  readonly index?: readonly { readonly value: unknown }[];
  readonly sequence?: unknown;
}

/** Copies what a definition describes; other values, such as a `Date`, stay. */
function plainCopy(value: unknown, definition: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const branches = [definition].flat() as (Definition | undefined)[]; // a union is a list of them
  const branch = branches.find((each) => describes(each, value));
  if (!branch) return value;
  const { required = [], optional = [], index, sequence } = branch;
  if (Array.isArray(value)) return value.map((item) => plainCopy(item, sequence));
  const members = new Map([...required, ...optional].map((each) => [each.key, each.value]));
  return Object.fromEntries(
    Object.entries(value).map((
      [key, member],
    ) => [key, plainCopy(member, members.get(key) ?? index?.[0]?.value)]),
  );
}

function describes(branch: Definition | undefined, value: object): boolean {
  if (typeof branch !== "object") return false;
  if (Array.isArray(value)) return "sequence" in branch;
  const { required = [], optional, index } = branch;
  return required.every(({ key }) => key in value) &&
    (required.length > 0 || !!optional || !!index);
}

function anyKeepsUndeclared({ references }: ArkType): boolean {
  return references.some(({ json }) => keepsUndeclared(json));
}

function keepsUndeclared(node: unknown): boolean {
  if (typeof node !== "object" || node === null) return false;
  const declaresKeys = "required" in node || "optional" in node;
  const drops = "undeclared" in node &&
    (node.undeclared === "delete" || node.undeclared === "reject");
  return declaresKeys && !drops || Object.values(node).some(keepsUndeclared);
}

function propertiesOf(branch: ArkType): SchemaProperties | undefined {
  try {
    const { props } = isMorph(branch) ? branch.in : branch;
    return new Map(props.map(({ key, value }) => [String(key), value]));
  } catch {
    return undefined; // not an object
  }
}

function isMorph({ json }: ArkType): boolean {
  return typeof json === "object" && json !== null && "morphs" in json;
}

function isObject({ json }: ArkType): boolean {
  return typeof json === "object" && json !== null && "domain" in json && json.domain === "object";
}

/** Lists the expected constraints: the messages of the library quote values in many ways. */
function messageOf(issue: LibraryIssue): string | undefined {
  if (!("problem" in issue && "expected" in issue)) return undefined;
  const constraints = String(issue.expected).split("\u25e6").map((text) => text.trim()).filter(
    Boolean,
  );
  return `must be ${constraints.join(" and ")}`;
}
