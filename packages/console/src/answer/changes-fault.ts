import type { PlacedFaults } from "../form/faults.ts";
import type { PageRefusal } from "../session/page-post.ts";

const articles: Readonly<Record<string, string>> = { integer: "a whole number", array: "a list", object: "an object" };

/**
 * Returns the errors in the call arguments that a person changed when answering a question. The key of each error is the JSON Pointer of
 * its field. The texts are for people who know neither the API nor JSON Schema. Returns undefined if the service refused the answer for
 * another reason.
 */
export function changesFault({ reason, message }: Pick<PageRefusal, "reason" | "message">): PlacedFaults | undefined {
  const [, pointer, says] = (reason === "OVERRIDES_INVALID" && /answer schema: (\S+) (.+?)\.?$/.exec(message)) || [];
  if (pointer === undefined || says === undefined) return undefined;
  const plain = says.replace(/must be (number|integer|string|boolean|array|object)$/, (_, type: string) => {
    return `must be ${articles[type] ?? `a ${type === "string" ? "text" : type}`}`;
  });
  return new Map([[pointer === "it" ? "" : pointer, [plain]]]);
}
