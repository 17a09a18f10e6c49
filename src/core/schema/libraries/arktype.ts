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
 * the methods of their originals, of which `toJSON` could send what was dropped. They are copied
 * before, as a morph could return them and a copy has no private fields; instances of a class that
 * the type names, after.
 */
function withoutMethods(type: ArkType): StandardSchemaV1 {
  const { "~standard": standard, json, references } = type;
  // a union would delete undeclared keys of the value itself, in a list of a copy
  const list = type.array()["~standard"];
  const { json: input } = type.in;
  const hasInstances = references.some(({ json }) => isInstance(json));
  const validate = (value: unknown) => {
    const given = [plainCopy(value, input)];
    const result = list.validate(given) as StandardSchemaV1.Result<unknown[]>; // no promise
    if (result.issues) return standard.validate(value);
    const [output] = result.value;
    return { value: hasInstances ? plainCopy(output, json, true) : output };
  };
  return { "~standard": { ...standard, validate } };
}

/** The definition of a type, as far as it is used here: of an object, or of a list. */
interface Definition {
  readonly required?: readonly { readonly key: string; readonly value: unknown }[];
  readonly optional?: Definition["required"];
  readonly index?: readonly { readonly value: unknown }[];
  /** The definition of all items; of a tuple, lists of definitions. */
  readonly sequence?: unknown;
}

/** Copies what a definition describes; other values, such as a `Date`, stay. */
function plainCopy(value: unknown, definition: unknown, ofInstances = false): unknown {
  if (typeof value !== "object" || value === null) return value;
  const union: readonly unknown[] = [definition].flat();
  const branches = union.filter((each): each is Definition =>
    describes(each, value) && (ofInstances || !isInstance(each))
  );
  if (branches.length === 0) return value;
  if (Array.isArray(value)) {
    const items = branches.flatMap(({ sequence }) => itemsOf(sequence));
    return value.map((item) => plainCopy(item, items, ofInstances));
  }
  const declared = branches.flatMap(({ required = [], optional = [] }) => [
    ...required,
    ...optional,
  ]);
  const byKey = Map.groupBy(declared, ({ key }) => key);
  const others = branches.flatMap(({ index = [] }) => index);
  // a declared key can be a getter of a class
  const inherited = [...byKey.keys()].filter((key) => key in value && !Object.hasOwn(value, key));
  return Object.fromEntries(
    [...Object.keys(value), ...inherited].map((key) => {
      const definitions = (byKey.get(key) ?? others).flatMap((each) => each.value);
      return [key, plainCopy(Reflect.get(value, key), definitions, ofInstances)];
    }),
  );
}

/** The definition of a tuple; each item can be a union, which is a list. */
interface Tuple {
  readonly prefix?: readonly unknown[];
  readonly optionals?: readonly unknown[];
  /** Each with its default. */
  readonly defaultables?: readonly (readonly unknown[])[];
  readonly variadic?: unknown;
  readonly postfix?: readonly unknown[];
}

const TUPLE = ["prefix", "optionals", "defaultables", "variadic", "postfix"] as const;

/** Returns the definitions of the items of a list, or of those of a tuple, in any place. */
function itemsOf(sequence: unknown): readonly unknown[] {
  if (!isTuple(sequence)) return [sequence].flat();
  const { prefix = [], optionals = [], defaultables = [], variadic = [], postfix = [] } = sequence;
  return [
    ...prefix,
    ...optionals,
    ...defaultables.map(([item]) => item),
    variadic,
    ...postfix,
  ].flat();
}

function isTuple(sequence: unknown): sequence is Tuple {
  return typeof sequence === "object" && sequence !== null && !Array.isArray(sequence) &&
    TUPLE.some((part) => part in sequence);
}

function describes(definition: unknown, value: object): definition is Definition {
  if (typeof definition !== "object" || definition === null) return false;
  if (Array.isArray(value)) return "sequence" in definition;
  const { required = [], optional, index } = definition as Definition;
  return required.every(({ key }) => key in value) &&
    (required.length > 0 || !!optional || !!index);
}

/** Checks whether a definition names the class of its values. */
function isInstance(definition: unknown): boolean {
  return typeof definition === "object" && definition !== null && "proto" in definition &&
    definition.proto !== "Array";
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

function isMorph({ json }: Pick<ArkType, "json">): boolean {
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
