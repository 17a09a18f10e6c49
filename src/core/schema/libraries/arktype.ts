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
interface ArkType extends ArkNode, StandardSchemaV1 {
  /** All types in its definition, and those that it only names, such as recursive ones. */
  readonly references: readonly ArkNode[];
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

/** A type in a definition of arktype. */
interface ArkNode {
  /** Its definition. */
  readonly json: unknown;
  /** The branches of a union, or the type itself. */
  readonly branches: readonly ArkNode[];
  /** The type of its input, without morphs. */
  readonly in: ArkNode;
  /** The type of its output, as far as it is known. */
  readonly out: ArkNode;
  /** The type that is named, if this one only names it. */
  readonly resolution?: ArkNode;
  /** The keys and items of an object. */
  readonly structure?: ArkStructure;
  /** Checks whether a value satisfies it. */
  allows(value: unknown): boolean;
}

interface ArkStructure {
  readonly props: readonly { readonly key: string | symbol; readonly value: ArkNode }[];
  readonly index?: readonly { readonly signature: ArkNode; readonly value: ArkNode }[];
  readonly sequence?: ArkSequence;
}

interface ArkSequence {
  /** The first items of a tuple, required or not. */
  readonly prevariadic: readonly { readonly node: ArkNode }[];
  /** The type of any number of items. */
  readonly variadic?: ArkNode;
  /** The last items of a tuple. */
  readonly postfix?: readonly ArkNode[];
}

/** Whether a type is read as that of the input of a schema or of its output. */
type Side = "in" | "out";

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
 * before, as a morph could return them and arktype's copy has no private fields; what morphs return
 * and instances of a class that the type names, after. Only copies are sent.
 */
function withoutMethods(type: ArkType): StandardSchemaV1 {
  const { "~standard": standard, references } = type;
  // a union would delete undeclared keys of the value itself, in a list of a copy
  const list = type.array()["~standard"];
  const changesCopy = references.some(canChangeCopy);
  const validate = (value: unknown) => {
    const given = [plainCopy(value, [type], "in")];
    const result = list.validate(given) as StandardSchemaV1.Result<unknown[]>; // no promise
    if (result.issues) return { issues: result.issues.map(ofItem) };
    const [output] = result.value;
    return { value: changesCopy ? plainCopy(output, [type], "out") : output };
  };
  return { "~standard": { ...standard, validate } };
}

/** Checks whether the output of a type can be an object with keys that is not a plain copy. */
function canChangeCopy(type: ArkNode): boolean {
  if (isMorph(type)) return type.out.branches.some(({ structure }) => structure);
  return type.resolution !== undefined || isInstance(type) && type.structure !== undefined;
}

/** Returns the issue of an item of a list, with the path in the item. */
function ofItem(issue: StandardSchemaV1.Issue): StandardSchemaV1.Issue {
  // the path of arktype is a subclass of Array; other members are getters of a class
  return Object.create(issue, { path: { value: Array.from(issue.path ?? []).slice(1) } });
}

/**
 * Copies the objects of which the types declare keys, and their lists, so that they have no methods
 * and no getters. Other values stay, such as a `Date`. The copy of an output has only declared
 * keys: arktype cannot delete keys of frozen objects, which morphs can return.
 */
function plainCopy(value: unknown, types: readonly ArkNode[], side: Side): unknown {
  if (typeof value !== "object" || value === null) return value;
  const all = types.flatMap((type) => branchesOf(type, side));
  const satisfied = all.length > 1 ? all.filter((branch) => branch.allows(value)) : all;
  // the copy of a value that satisfies none is refused
  const branches = satisfied.length > 0 ? satisfied : all;
  const structures = branches.flatMap(({ structure = [] }) => structure);
  if (
    structures.length === 0 ||
    branches.some((each) => isInstance(each) && (side === "in" || !each.structure))
  ) return value;
  const sequences = structures.flatMap(({ sequence = [] }) => sequence);
  if (!Array.isArray(value) || sequences.length === 0) return plainObject(value, structures, side);
  return Array.from(value, (item, index) => {
    const items = sequences.flatMap(({ prevariadic, variadic = [], postfix = [] }) =>
      prevariadic[index]?.node ?? postfix[index - (value.length - postfix.length)] ?? variadic
    );
    return plainCopy(item, items, side);
  });
}

/** Checks whether a type names the class of its values. */
function isInstance({ json }: Pick<ArkNode, "json">): boolean {
  return typeof json === "object" && json !== null && "proto" in json && json.proto !== "Array";
}

function plainObject(value: object, structures: readonly ArkStructure[], side: Side): object {
  // a declared key can be a getter of a class, or not enumerable
  const declared = structures.flatMap(({ props }) => props.map(({ key }) => key))
    .filter((key) => key in value);
  return Object.fromEntries(
    [...new Set([...Object.keys(value), ...declared])].flatMap((key) => {
      const types = structures.flatMap(({ props, index = [] }) => {
        const property = props.find((each) => each.key === key);
        const places = property ? [property] : index.filter((each) => each.signature.allows(key));
        return places.map((each) => each.value);
      });
      return side === "out" && types.length === 0
        ? []
        : [[key, plainCopy(Reflect.get(value, key), types, side)]];
    }),
  );
}

/** Returns the branches of a type without morphs. */
function branchesOf(type: ArkNode, side: Side): readonly ArkNode[] {
  return type.branches.flatMap((branch) =>
    branch.resolution ? branchesOf(branch.resolution, side) : branch[side].branches
  );
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

function isMorph({ json }: Pick<ArkNode, "json">): boolean {
  return typeof json === "object" && json !== null && "morphs" in json;
}

function isObject({ json }: ArkType): boolean {
  return typeof json === "object" && json !== null && "domain" in json && json.domain === "object";
}

/** Lists the expected constraints: the messages of the library quote values in many ways. */
function messageOf(issue: LibraryIssue): string | undefined {
  if (!("problem" in issue && "expected" in issue)) return undefined;
  try {
    const constraints = String(issue.expected).split("\u25e6").map((text) => text.trim());
    return `must be ${constraints.filter(Boolean).join(" and ")}`;
  } catch {
    return "must be valid"; // the library fails over keys such as `constructor`
  }
}
