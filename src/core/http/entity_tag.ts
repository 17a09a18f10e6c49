/**
 * Entity tags: the names of representations (RFC 9110 §8.8.3).
 *
 * @module
 */

/** A tag; a space in it, which HTTP allowed before RFC 7232, is accepted. */
const TAG = String.raw`(?:W/)?"[ !#-~\x80-\xff]*"`;
const TAGS = new RegExp(TAG, "g");
/** A list, whose elements can be empty (RFC 9110 §5.6.1.2). */
const LIST = new RegExp(String.raw`^(?:[ \t]*,)*[ \t]*${TAG}(?:[ \t]*,(?:[ \t]*${TAG})?)*[ \t]*$`);

/** Lists the tags of a header, such as `"a", W/"b"`; `undefined` if it is not a list of tags. */
export function tagsIn(header: string): readonly string[] | undefined {
  return LIST.test(header) ? header.match(TAGS) ?? undefined : undefined;
}

/**
 * Checks whether `If-None-Match` names a strong tag, weakly or not, or any by `*` (RFC 9110
 * §13.1.2): the client has the representation.
 */
export function isKnownTag(tag: string, ifNoneMatch: string | undefined = ""): boolean {
  if (ifNoneMatch === "*") return true;
  return tagsIn(ifNoneMatch)?.some((known) => known === tag || known === `W/${tag}`) === true;
}
