/**
 * Source text without its comments.
 *
 * @module
 */

/** Text in quotes, which is kept, or a comment. */
const TEXT_OR_COMMENT = /("(?:\\.|[^"\\\n])*")|\/\/.*|\/\*[^]*?\*\//g;

/** Takes the comments out of TypeScript, or of JSON that has some. */
export function withoutComments(text: string): string {
  return text.replaceAll(TEXT_OR_COMMENT, "$1");
}
