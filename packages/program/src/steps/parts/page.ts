import type { Action } from "@svc/catalog";
import { formatValue } from "@svc/core";
import type { FaultList } from "../../faults.ts";
import type { Path } from "../../json.ts";
import { type ObjectForm, wholeSchema } from "../../read/form.ts";
import { parsePath } from "../../read/reference.ts";
import type { Node, ShapeReader } from "../../read/shape.ts";
import { fieldType, namesOf, typesOf, walkType } from "../../types/schema-type.ts";

/** How the next page is asked for: argument `arg` takes what stands at `from` in the answer, for at most `max` pages. */
export type PageSpec = { readonly arg: string; readonly from: Path; readonly max: number };

const pageCount = { min: 1, max: 1000 };

/** The form of `page`. */
export const pageForm: ObjectForm = {
  description:
    "Asks for page after page. A token left over after the last page allowed fails the step with PAGE_LIMIT.",
  required: {
    arg: {
      description: "Argument that takes the token.",
      type: "string",
      minLength: 1,
      maxLength: 200,
      examples: ["page_token"],
    },
    from: {
      description: "Path of the next page's token in the answer; absent, null or empty at the last page.",
      type: "string",
      minLength: 1,
      maxLength: 512,
      pattern: String.raw`^[^.\[\]{}\s"]+(\.[^.\[\]{}\s"]+|\[\d{1,6}\])*$`,
      examples: ["nextPageToken"],
    },
    max: wholeSchema("Most pages.", pageCount, 40),
  },
  optional: {},
  examples: [{ arg: "page_token", from: "nextPageToken", max: 40 }],
};

/** Reads how pages are asked for. */
export function readPage(node: Node, reader: ShapeReader): PageSpec | undefined {
  const fields = reader.fields(node, pageForm);
  if (fields === undefined) return undefined;
  const arg = reader.text(fields.at("arg"), { max: 200 });
  const max = reader.number(fields.at("max"), pageCount);
  const text = reader.text(fields.at("from"), { max: 512 });
  const from = text === undefined ? undefined : parsePath(text);
  if (text !== undefined && from === undefined) {
    const hint = "write the path of the token in the answer, such as nextPageToken";
    reader.faults.add("PROGRAM_MALFORMED", fields.at("from").path, "is not a path", hint);
  }
  return arg === undefined || max === undefined || from === undefined ? undefined : { arg, from, max };
}

/** Checks that the token stands in the tool's output and fits the argument. Records every fault. */
export function checkPage(
  page: PageSpec,
  path: Path,
  action: Pick<Action, "slug" | "inputSchema" | "outputSchema">,
  faults: FaultList,
): void {
  const { inputSchema, outputSchema, slug } = action;
  const taken = fieldType(inputSchema, page.arg);
  if ("fault" in taken) {
    const message = `${formatValue(page.arg)} is no argument of ${slug}`;
    const hint = `name one of ${namesOf(inputSchema).join(", ")}`;
    faults.add("PROGRAM_REFERENCE_INVALID", [...path, "arg"], message, hint);
  }
  const given = walkType(outputSchema, page.from);
  if ("fault" in given) {
    const hint = "name the field of the output that holds the next page's token";
    faults.add("PROGRAM_REFERENCE_INVALID", [...path, "from"], `is no field of the output: it ${given.fault}`, hint);
    return;
  }
  const takenTypes = "type" in taken ? typesOf(taken.type) : undefined;
  const types = typesOf(given.type);
  if (types === undefined || takenTypes === undefined || [...types].some((type) => takenTypes.has(type))) return;
  const message = `is ${[...types].join(" or ")}, but ${page.arg} is ${[...takenTypes].join(" or ")}`;
  faults.add("PROGRAM_ARGUMENT_INVALID", [...path, "from"], message, "name the field that fits the argument");
}
