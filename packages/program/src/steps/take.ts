import { formatValue } from "@svc/core";
import { type Path, pathOf } from "../json.ts";
import { parsePath } from "../read/reference.ts";
import type { ShapeNode, ShapeReader } from "../read/shape.ts";
import { typesOf } from "../types/schema-type.ts";
import { nothing, type RowSet, resolveType } from "../types/scope.ts";
import type { AnyStep, StepLanguage } from "./language.ts";
import { type ItemRows, itemRowsForm, readItemRows, setOfItems } from "./parts/rows.ts";
import { quoted } from "./parts/title.ts";
import { noUse } from "./use.ts";

/** Step kind `take`: makes rows from a list in the job's input. */
export type TakeStep = AnyStep & ItemRows & { readonly kind: "take"; readonly list: Path };

const { keep, key } = itemRowsForm;

/** Definition of the step kind `take`: its fields, and how svc reads and checks such a step and estimates its calls, rows and questions. */
export const takeLanguage: StepLanguage<TakeStep> = {
  form: {
    description: "Makes rows of a list of the input.",
    required: {
      take: {
        description: "Path of the list, starting with input.",
        type: "string",
        maxLength: 512,
        pattern: String.raw`^input(\.[^.\[\]{}\s"]+|\[\d{1,6}\])+$`,
        examples: ["input.orders"],
      },
      keep,
    },
    optional: { key },
    examples: [{ id: "orders", take: "input.orders", key: "id", keep: ["id", "amount"] }],
  },
  formInMap: undefined,
  refusedInItself: undefined,
  definitions: {},
  named: { value: undefined, set: "a take", row: undefined },

  read(base, fields, { reader }) {
    const list = readList(fields.at("take"), reader);
    const rows = readItemRows(fields, reader);
    return list === undefined || rows === undefined ? undefined : { kind: "take", ...base, list, ...rows };
  },

  check(step, { scope, check }) {
    const path = pathOf(step.pointer);
    const found = resolveType(scope, { root: "input", path: step.list, text: ["input", ...step.list].join(".") });
    const types = "fault" in found ? undefined : typesOf(found.type);
    const isList = "type" in found && (types === undefined || types.has("array"));
    if (!isList) {
      const message = "fault" in found ? found.fault : `is ${[...(types ?? [])].join(" or ")}, not a list`;
      const hint = "name a list of input, as in inputSchema (or input)";
      check.faults.add("PROGRAM_REFERENCE_INVALID", [...path, "take"], message, hint);
    }
    const set: RowSet | "any" = isList ? setOfItems(step, path, found.type, check.faults) : "any";
    return { own: { ...nothing, set }, inner: [] };
  },

  title: ({ list }) => `Take the rows of ${quoted(["input", ...list].join("."))}`,
  lists: () => [],
  calls: () => [],
  asks: () => [],
  estimate: (_step, { rowsMax }) => ({ ...noUse, rowsMax }),
};

function readList(node: ShapeNode, reader: ShapeReader): Path | undefined {
  const hint = "write the path of a list of the input, such as input.orders";
  const text = reader.text(node, { max: 512, hint });
  if (text === undefined) return undefined;
  const [root, ...path] = parsePath(text) ?? [];
  if (root === "input" && path.length > 0) return path;
  reader.faults.add("PROGRAM_MALFORMED", node.path, `is ${formatValue(text)}, which is not the path of a list`, hint);
  return undefined;
}
