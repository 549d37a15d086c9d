import type { PlacedFaults } from "../form/faults.ts";
import type { PageRefusal } from "../session/page-post.ts";

const articles: Readonly<Record<string, string>> = { integer: "a whole number", array: "a list", object: "an object" };

/**
 * Faults in the changes, by the JSON Pointer of the field, in words for people who know neither the API nor JSON Schema. Undefined if the
 * refusal is about something else.
 */
export function changesFault({ reason, message }: Pick<PageRefusal, "reason" | "message">): PlacedFaults | undefined {
  const [, pointer, says] = (reason === "OVERRIDES_INVALID" && /answer schema: (\S+) (.+?)\.?$/.exec(message)) || [];
  if (pointer === undefined || says === undefined) return undefined;
  const plain = says.replace(/must be (number|integer|string|boolean|array|object)$/, (_, type: string) => {
    return `must be ${articles[type] ?? `a ${type === "string" ? "text" : type}`}`;
  });
  return new Map([[pointer === "it" ? "" : pointer, [plain]]]);
}
