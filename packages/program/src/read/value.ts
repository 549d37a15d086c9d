import type { JsonSchema } from "@svc/catalog";
import type { FaultList } from "../faults.ts";
import { type Path, pointerOf } from "../json.ts";
import type { TextTemplate, ValueTemplate } from "../template.ts";
import { parseTemplate, parseText } from "./reference.ts";
import type { Node } from "./shape.ts";

/** The definition `value` of the JSON Schema. */
export const valueDefinition: JsonSchema = {
  description:
    'A JSON value. {"$ref": path} takes a value, with "else" where its source may be skipped or absent; {"$text": "… {path} …"} joins text, {{ is a brace. Paths start with input, params, steps.<id>, row, output, calls.<id> or rows.<set>. {"$cel": expression} computes a value of them and of now; {"$literal": value} is the value as it stands.',
  examples: [
    { $ref: "steps.sum.sent", else: 0 },
    { $text: "{rows.open} open" },
    { $cel: "now - duration('168h')" },
    { $literal: "Hello {{name}}" },
    250,
  ],
};

/** Reads a JSON value with references in it. Faults are recorded; undefined only for what is absent. */
export function readValue({ value, path }: Node, faults: FaultList): ValueTemplate | undefined {
  if (value === undefined) return undefined;
  return parseTemplate(value, path, (at, kind, message) => {
    if (kind === "shape")
      faults.add(
        "PROGRAM_MALFORMED",
        at,
        message,
        'write {"$ref": "path"}, {"$text": "… {path} …"} or {"$cel": "expression"}',
      );
    else syntaxFault(faults, at, message);
  });
}

/** Reads a text with `{path}` references in it. */
export function readText(text: string, path: Path, faults: FaultList): TextTemplate | undefined {
  const template = parseText(text, pointerOf(path));
  if (!("fault" in template)) return template;
  syntaxFault(faults, path, template.fault);
  return undefined;
}

function syntaxFault(faults: FaultList, path: Path, message: string): void {
  const hint = "start with input, params, steps.<id>, row, output, calls.<id> or rows.<set>; a literal brace is {{";
  faults.add("PROGRAM_REFERENCE_INVALID", path, message, hint);
}
