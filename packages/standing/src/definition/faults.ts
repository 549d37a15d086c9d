import { type CatalogViews, nearest } from "@svc/catalog";
import { call, type FaultText, formatValue, type JsonObject, type ProjectId, text } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { findReferencedEntities } from "@svc/db/standing/trigger-entities";
import { createFaultList, type DocumentFault, type FaultList, type ProgramFault } from "@svc/program";
import type { Definition } from "./definition.ts";

/** Codes of faults in the definition of a schedule. Faults in the schedule's program have codes of their own. */
type DefinitionFaultCode =
  | "DEFINITION_MALFORMED"
  | "DEFINITION_TOO_LARGE"
  | "SCHEDULE_INVALID"
  | "TIME_ZONE_UNKNOWN"
  | "JITTER_TOO_LONG"
  | "TRIGGER_UNKNOWN"
  | "SOURCE_NOT_GRANTED"
  | "POLL_INVALID"
  | "INPUT_MISMATCH"
  | "EXPRESSION_INVALID"
  | "POLICY_INVALID"
  | "BUDGET_REQUIRED";

/** A fault of a schedule's definition, or of the program inside the definition. */
export type StandingFault = DocumentFault<DefinitionFaultCode | ProgramFault["code"]>;

/** The list to which the faults of a schedule's definition are added. */
export type StandingFaults = FaultList<DefinitionFaultCode>;

/**
 * Creates the list of faults of a schedule's definition. Code that reads both definitions and programs reports fault codes of programs;
 * this list translates them into codes of definitions.
 */
export function createDefinitionFaults(document: unknown): {
  readonly faults: StandingFaults;
  /** List of faults for code that reads both programs and schedules. Each fault gets a code for schedules and is added to `faults`. */
  readonly shared: FaultList;
} {
  const faults = createFaultList<DefinitionFaultCode>(document);
  const add: FaultList["add"] = (code, path, message, hint) => faults.add(wordOf(code, path), path, message, hint);
  return {
    faults,
    shared: {
      add,
      rehint: (code, path, message, hint) => faults.rehint(wordOf(code, path), path, message, hint),
      addYounger: (code, path, message, hint) => faults.addYounger(wordOf(code, path), path, message, hint),
      takeYounger: () => faults.takeYounger(),
      omit: (count) => faults.omit(count),
      get count() {
        return faults.count;
      },
      note: faults.note,
      notes: faults.notes,
      has: (pointer) => faults.has(pointer),
      list: () => [],
    },
  };
}

/**
 * Translates an error code of programs into an error code of schedules. The result also depends on the first two parts of the error's path.
 */
function wordOf(code: ProgramFault["code"], [first, second]: readonly (string | number)[]): DefinitionFaultCode {
  if (first === "source" && second === "poll") return "POLL_INVALID";
  if (code === "PROGRAM_REFERENCE_INVALID" || code === "PROGRAM_EXPRESSION_INVALID") return "EXPRESSION_INVALID";
  if (code !== "PROGRAM_LIMIT_INVALID") return "DEFINITION_MALFORMED";
  return first === "source" && second === "schedule" ? "SCHEDULE_INVALID" : "POLICY_INVALID";
}

/**
 * A definition for which notes are made (a note is advice about a probable mistake). `definition`: its parsed form. `document`: the JSON as
 * the author wrote it.
 */
type NotedDefinition = {
  readonly projectId: ProjectId;
  readonly definition: Definition;
  readonly document: JsonObject;
};

/** Pattern for `fire.localDate` and `fire.localTime`, whose values depend on the time zone. */
const localNames = /\bfire\.local(?:Date|Time)\b/;

/**
 * Adds a note if a schedule's definition uses local times without a time zone. The local times are then in UTC, which the author may not
 * want.
 */
export function noteZone({ definition: { source }, document }: NotedDefinition, faults: StandingFaults): void {
  if (Object.hasOwn(document, "timeZone")) return;
  const hint =
    'write the zone next to source, such as "timeZone": "Europe/Berlin", or "timeZone": "UTC" if you mean UTC';
  if (source.kind === "schedule" && source.schedule.timing.kind === "cron") {
    const { expressions } = source.schedule.timing;
    const named = expressions.map((text) => formatValue(text)).join(", ");
    faults.note(
      "ZONE_DEFAULT",
      ["source", "schedule", "cron"],
      `${named} is read in UTC, because no timeZone is given`,
      hint,
    );
  }
  for (const name of ["when", "input", "dedupe"]) {
    const value = document[name];
    if (!localNames.test(JSON.stringify(value ?? ""))) continue;
    faults.note("ZONE_DEFAULT", [name], "names a local time, which is read in UTC, because no timeZone is given", hint);
  }
}

/**
 * Adds a note for the author if the definition names an entity (customer or user) that no event of the trigger can be about, as far as svc
 * knows.
 */
export async function noteEntity(
  { projectId, definition: { source } }: NotedDefinition,
  { db, views }: { readonly db: Executor; readonly views: Pick<CatalogViews, "shared"> },
  faults: StandingFaults,
): Promise<void> {
  if (source.kind !== "trigger" || source.entity === undefined) return;
  const { slug, entity: entityId } = source;
  const tool = views.shared.tools.get(slug);
  if (tool?.kind !== "trigger") return;
  const path = ["source", "trigger", "entity"];
  const note = (message: string, hint: FaultText) => faults.note("ENTITY_UNHEARD", path, message, hint);
  if (!tool.namesAccount) {
    const message = `is ${formatValue(entityId)}, but posts of ${slug} name no account, so no event is about an entity`;
    return note(message, "leave entity out: then each event of the trigger starts a run");
  }
  const { toolkitSlug } = tool;
  const known = await findReferencedEntities(db, { projectId, toolkitSlug, entityId });
  if (known.includes(entityId)) return;
  const near = nearest(entityId, known) ?? (known.length === 1 ? known[0] : undefined);
  const meant = near === undefined ? "" : `write ${formatValue(near)}, or `;
  const message = `is ${formatValue(entityId)}, but no account of it takes events of ${toolkitSlug}, so no event would start a run`;
  note(
    message,
    text`${meant}connect ${toolkitSlug} for ${entityId} and give the account its app's own id by ${call("SetAccountReferences")}, or leave entity out`,
  );
}
