// Reads the comments of the contract.
import { getComments } from "@bufbuild/protoplugin";

/** Returns the comment of a service, call, message, field or enum value, without the spaces that begin its lines. */
export function commentOf(desc) {
  const { leading = "" } = getComments(desc);
  return leading
    .split("\n")
    .map((line) => line.replace(/^ /, ""))
    .join("\n")
    .trim();
}

/** Returns the text of a comment, and separately the errors that it lists in the form `- code REASON: when`. */
export function readErrors(desc) {
  return splitErrors(commentOf(desc));
}

const item = /^- (\w+) ([A-Z][A-Z0-9_]+): ([\s\S]*?)(?=^- |^$|$(?![\s\S]))/gm;

function splitErrors(comment) {
  const errors = [...comment.matchAll(item)];
  const says = comment.replace(item, "").replace(/^Errors:$/m, "");
  return {
    says: says.replace(/\n{3,}/g, "\n\n").trim(),
    errors: errors.map(([, code, reason, when]) => ({ code, reason, when: when.trim() })),
  };
}
