import type { GivenTemplate, Node, ShapeReader } from "@svc/program";
import type { Collect, Dedupe, Source } from "./definition.ts";
import type { DefinitionFaults } from "./faults.ts";
import { bounds, collectForm, dedupeForm } from "./forms.ts";

/** Reads a template over what is given. */
export type GivenReader = (node: Node) => GivenTemplate | undefined;

/** Reads which occurrences are the same. Faults are recorded. */
export function readDedupe(node: Node, reader: ShapeReader, given: GivenReader): Dedupe | undefined {
  if (node.value === undefined) return undefined;
  const fields = reader.fields(node, dedupeForm);
  const key = fields && given(fields.at("key"));
  const windowMs = fields && (reader.duration(fields.at("window"), bounds.dedupeWindow) ?? 86_400_000);
  return key === undefined || windowMs === undefined ? undefined : { key, windowMs };
}

/** Reads how events become one run. Faults are recorded. */
export function readCollect(
  node: Node,
  reader: ShapeReader,
  {
    faults,
    given,
    source,
  }: { readonly faults: DefinitionFaults; readonly given: GivenReader; readonly source: Source | undefined },
): Collect | undefined {
  if (node.value === undefined) return undefined;
  const fields = reader.fields(node, collectForm);
  if (fields === undefined) return undefined;
  if (source !== undefined && source.kind !== "trigger") {
    const starts = source.kind === "poll" ? "rows that a poll finds" : "times";
    faults.add("POLICY_INVALID", node.path, `collects events, and ${starts} start it`, "leave it out");
  }
  const quietMs = reader.duration(fields.at("quiet"), bounds.quiet);
  const waitMs = reader.duration(fields.at("wait"), bounds.wait);
  if (!fields.has("quiet") && !fields.has("wait")) {
    const hint = 'name quiet or wait: "quiet": "30s"';
    faults.add("POLICY_INVALID", node.path, "says not when a window closes", hint);
  }
  const take = reader.oneOf(fields.at("take"), ["all", "last"]) ?? "all";
  const max = reader.number(fields.at("max"), bounds.collectMax);
  return {
    quietMs,
    waitMs: waitMs ?? bounds.wait.max,
    max: max ?? (take === "all" ? bounds.collectMax.max : undefined),
    take,
    key: given(fields.at("key")),
  };
}
