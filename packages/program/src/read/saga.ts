import type { SagaEnd } from "../program.ts";
import type { ObjectForm } from "./form.ts";
import type { Node, ShapeReader } from "./shape.ts";

const ends = ["failed", "aborted", "cancelled"] as const satisfies readonly SagaEnd[];
const endCount = { min: 1, max: ends.length };

/** The form of `saga`. */
export const sagaForm: ObjectForm = {
  description: "Undoes what was done, in reverse, when the job ends as named.",
  required: {
    on: {
      description: "The ends.",
      type: "array",
      minItems: endCount.min,
      maxItems: endCount.max,
      uniqueItems: true,
      items: { description: "One end.", enum: ends, examples: ["failed"] },
      examples: [ends],
    },
  },
  optional: {},
  examples: [{ on: ["failed", "aborted"] }],
};

/** Reads the ends that the saga runs for; none when nothing is said. */
export function readSaga(node: Node, reader: ShapeReader): readonly SagaEnd[] {
  const fields = node.value === undefined ? undefined : reader.fields(node, sagaForm);
  const items = fields?.has("on") ? reader.items(fields.at("on"), endCount) : undefined;
  const named = (items ?? []).flatMap((item) => reader.oneOf<SagaEnd>(item, ends) ?? []);
  if (new Set(named).size < named.length) {
    reader.faults.add("PROGRAM_MALFORMED", [...node.path, "on"], "names an end twice", "name each once");
  }
  return named;
}
