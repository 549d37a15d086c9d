import { createFaultList, type DocumentFault, type FaultList, type ProgramFault } from "@svc/program";

/** What is wrong with a definition beside its program. */
export type DefinitionFaultCode =
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

/** One thing wrong with a definition, or with the program in it. */
export type DefinitionFault = DocumentFault<DefinitionFaultCode | ProgramFault["code"]>;

/** The faults of a definition. */
export type DefinitionFaults = FaultList<DefinitionFaultCode>;

/** Collects the faults of a definition, and hands those that readers of programs find on in its own words. */
export function createDefinitionFaults(document: unknown): {
  readonly faults: DefinitionFaults;
  /** For readers that are shared with programs. */
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

/** A bound that is not kept is told by what it bounds. */
function wordOf(code: ProgramFault["code"], [first, second]: readonly (string | number)[]): DefinitionFaultCode {
  if (first === "source" && second === "poll") return "POLL_INVALID";
  if (code === "PROGRAM_REFERENCE_INVALID" || code === "PROGRAM_EXPRESSION_INVALID") return "EXPRESSION_INVALID";
  if (code !== "PROGRAM_LIMIT_INVALID") return "DEFINITION_MALFORMED";
  return first === "source" && second === "schedule" ? "SCHEDULE_INVALID" : "POLICY_INVALID";
}
