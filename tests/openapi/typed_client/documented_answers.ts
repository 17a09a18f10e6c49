/** The responses of operations by a document. */

interface ResponseObject {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, unknown>>;
}

interface Operation {
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly responses: Readonly<Record<string, ResponseObject>> };
}

const SHARED = "#/components/responses/";

/** Lists them in order: `GET /api/v1/users 200 application/json`. */
export async function documentedAnswers(documentUrl: string): Promise<readonly string[]> {
  const response = await fetch(documentUrl);
  const { paths, components: { responses: shared } }: Document = await response.json();
  const mediaTypesOf = ({ $ref, content = {} }: ResponseObject): readonly string[] => {
    const types = Object.keys(shared[$ref?.replace(SHARED, "") ?? ""]?.content ?? content);
    return types.length > 0 ? types : ["nothing"];
  };
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { responses }]) =>
      Object.entries(responses).flatMap(([status, each]) =>
        mediaTypesOf(each).map((type) => `${method.toUpperCase()} ${path} ${status} ${type}`)
      )
    )
  ).sort();
}
