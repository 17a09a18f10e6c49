/**
 * The texts that bodies of requests can have, by the names of their properties: rows have such
 * texts where they can, so that requests can have the same.
 *
 * @module
 */
import fc from "fast-check";
import { draftsOf } from "../request/arbitrary_requests.ts";
import { valueAt } from "../document_keys.ts";
import type { SchemaContext } from "../request/arbitrary_value.ts";
import { JSON_TYPE } from "../request/json_text.ts";
import type { ServedDocument } from "../request/served_document.ts";
import { propertiesOf, type PropertyPath, withProperty } from "../request/properties.ts";

/** How many bodies of each operation are made. */
const SAMPLES = 30;

/** Texts of bodies. */
export class BodyTexts {
  readonly #bodies = new Map<string, Body[]>();

  /** Takes the document of an application. */
  constructor(
    document: ServedDocument,
    { seed, context }: { readonly seed: number; readonly context: SchemaContext },
  ) {
    for (const operation of document.operations) {
      const schema = operation.body?.content?.get(JSON_TYPE);
      if (!schema) continue;
      const drafts = fc.sample(draftsOf(operation, context), { seed, numRuns: SAMPLES });
      const samples = drafts.flatMap(({ body }) => body?.json === undefined ? [] : [body.json]);
      for (const { path } of propertiesOf(schema.schema, context.resolve)) {
        const name = String(path.at(-1));
        const bodies = this.#bodies.get(name) ?? [];
        this.#bodies.set(name, [...bodies, { path, samples, holds: schema.holds }]);
      }
    }
  }

  /** Checks whether every body with a property of a name can have a text there. */
  admits(name: string, text: string): boolean {
    return (this.#bodies.get(name) ?? []).every(({ path, samples: [sample], holds }) =>
      sample === undefined || holds(withProperty(sample, path, text))
    );
  }

  /** Returns texts of a property of a name, which differ. */
  samples(name: string): readonly string[] {
    const values = (this.#bodies.get(name) ?? []).flatMap(({ path, samples }) =>
      samples.map((sample) => valueAt(sample, path))
    );
    return [...new Set(values.filter((value) => typeof value === "string"))];
  }
}

interface Body {
  readonly path: PropertyPath;
  readonly samples: readonly unknown[];
  readonly holds: (value: unknown) => boolean;
}
