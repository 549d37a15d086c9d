import { formatValue } from "@svc/core";
import type { Node, ShapeReader } from "@svc/program";
import { readPoll } from "../poll/read.ts";
import { readSchedule, type Search } from "../schedule/read.ts";
import type { Source } from "./definition.ts";
import type { DefinitionFaults } from "./faults.ts";
import { sourceForm, triggerForm } from "./forms.ts";

/** What a source is read with. */
export type SourceReading = {
  readonly reader: ShapeReader;
  readonly faults: DefinitionFaults;
  readonly timeZone: string;
  /** Undefined for one that is stored. */
  readonly search: Search | undefined;
};

const kinds = ["schedule", "trigger", "poll"] as const;

/** Reads what starts a program. Faults are recorded; undefined where it cannot be told. */
export async function readSource(node: Node, reading: SourceReading): Promise<Source | undefined> {
  const { reader, faults } = reading;
  const fields = reader.fields(node, sourceForm);
  if (fields === undefined) return undefined;
  const named = kinds.filter((kind) => fields.has(kind));
  const [kind] = named;
  if (kind === undefined || named.length > 1) {
    const message = kind === undefined ? "names nothing that starts it" : `names ${named.join(" and ")}`;
    faults.add("DEFINITION_MALFORMED", node.path, message, `name exactly one of ${kinds.join(", ")}`);
    return undefined;
  }
  switch (kind) {
    case "schedule": {
      const schedule = await readSchedule(fields.at(kind), reading);
      return schedule && { kind, schedule };
    }
    case "trigger":
      return readTrigger(fields.at(kind), reading);
    case "poll": {
      const poll = readPoll(fields.at(kind), reader);
      return poll && { kind, poll };
    }
  }
}

function readTrigger(node: Node, { reader, faults }: SourceReading): Source | undefined {
  const fields = reader.fields(node, triggerForm);
  const slug = fields && reader.text(fields.at("slug"), { max: 200 });
  if (fields === undefined || slug === undefined) return undefined;
  const entity = reader.text(fields.at("entity"), { max: 200 });
  if (entity === "") {
    faults.add("DEFINITION_MALFORMED", fields.at("entity").path, `is ${formatValue("")}`, "name one, or leave it out");
  }
  return { kind: "trigger", slug, entity };
}
