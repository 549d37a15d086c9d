import type { Check } from "../check/context.ts";
import { type Path, pathOf } from "../json.ts";
import { limitBounds } from "../limits.ts";
import { numberSchema, type ObjectForm, ref, schemaOf, wholeSchema } from "../read/form.ts";
import { nameSchema, readName } from "../read/name.ts";
import type { ShapeNode, ShapeReader } from "../read/shape.ts";
import type { ValueType } from "../types/schema-type.ts";
import { type EarlierCall, nothing, resolveType, type Scope } from "../types/scope.ts";
import type { CallStep } from "./call.ts";
import type { HttpStep } from "./http.ts";
import type { AnyStep, StepLanguage, StepPoint } from "./language.ts";
import { type AddedFields, keepPath, keepSchema, readKeep, withKept } from "./parts/keep.ts";
import { checkSource, type RowSource, readSource, sourceOptions, sourceSchema } from "./parts/source.ts";
import { quoted, slugTitle } from "./parts/title.ts";
import { effectOf } from "./parts/tool-call.ts";
import type { RunStep } from "./run.ts";
import { upTo } from "./use.ts";

/** A call that a `map` step makes for each row: a tool call or an HTTP request. */
export type MapCall = CallStep | HttpStep;

/** An action that a `map` step takes for each row: a call, or the run of a skill. */
export type RowStep = MapCall | RunStep;

/** True if the action for a row is a tool call or an HTTP request. False if it runs a skill. */
export function isCall(step: RowStep): step is MapCall {
  return step.kind !== "run";
}

/**
 * A step of kind `map`: makes calls for each row of a set (list of rows). Its result is a new set with the same rows, to which fields from
 * the answers and a final state (for example `failed`) are added.
 */
export type MapStep = AnyStep &
  RowSource & {
    readonly kind: "map";
    readonly concurrency: number;
    /** Number of rows that may fail without failing the step: at most `count` rows and at most `percent` of the rows. Both limits apply. */
    readonly tolerate: { readonly count: number; readonly percent: number };
    /**
     * The judgment points (questions to people) of a `map` step. `failed`: the question about failed rows. `unknown`: the question about
     * rows with an unknown outcome. Undefined if no question is asked.
     */
    readonly onRows: { readonly failed: string | undefined; readonly unknown: string | undefined };
    readonly calls: readonly RowStep[];
    /** Fields that rows get from the answers of calls. Each path begins with the id of a call. */
    readonly keep: AddedFields;
  };

const callCount = { min: 1, max: 20 };
const toleratedRows = { min: 0, max: limitBounds.rows.max };
const toleratedPercent = { min: 0, max: 100 };

const send = {
  id: "send",
  call: "messaging_bot.send_message",
  entity: "ops",
  args: { chat_id: "@team", text: { $text: "Please confirm: {row.summary}" } },
};

const tolerateForm: ObjectForm = {
  description: "Failed rows that are tolerated; both limits apply. Default: none.",
  required: {},
  optional: {
    count: wholeSchema("Maximum number of failed rows. Default: any number.", toleratedRows, 10),
    percent: numberSchema("Maximum failed rows, in percent of all rows. Default: 100.", toleratedPercent, 5),
  },
  rules: { minProperties: 1 },
  examples: [{ count: 10, percent: 5 }],
};

const onRowsForm: ObjectForm = {
  description:
    "Points that are asked about rows: first about unknown rows, then about failed ones. If a point is missing, the step fails.",
  required: {},
  optional: {
    failed: nameSchema("Point about failed rows.", "rowsFailed"),
    unknown: nameSchema("Point about rows with a write whose outcome is unknown.", "rowsUnknown"),
  },
  examples: [{ failed: "rowsFailed", unknown: "rowsUnknown" }],
};

const form: ObjectForm = {
  description:
    "Runs calls, in order, for each row. A row ends as ok, failed, skipped or unknown. Within tolerate the step succeeds as partial; beyond it, and always for unknown rows, svc asks the points in onRows after every row has ended.",
  required: {
    map: sourceSchema("open"),
    do: {
      description: "Calls for each row, in order. row is the row, calls.<id> the answer of an earlier call.",
      type: "array",
      minItems: callCount.min,
      maxItems: callCount.max,
      items: ref("mapCall"),
      examples: [[send]],
    },
  },
  optional: {
    ...sourceOptions,
    keep: keepSchema(
      "Fields that the rows of the map's set get from the answers, in addition to those of the source; null if the call was not made or did not end well.",
      "calls",
      [{ email: "calls.contact.email" }],
    ),
    concurrency: wholeSchema("Rows at the same time. Default and maximum: that of limits.", limitBounds.concurrency, 4),
    tolerate: schemaOf(tolerateForm),
    onRows: schemaOf(onRowsForm),
  },
  examples: [
    {
      id: "remind",
      map: "open",
      concurrency: 4,
      tolerate: { count: 10, percent: 5 },
      onRows: { failed: "rowsFailed" },
      do: [send],
    },
  ],
};

/** Definition of the step kind `map`: its fields, and how svc reads and checks such a step and estimates its calls, rows and questions. */
export const mapLanguage: StepLanguage<MapStep, RowStep> = {
  form,
  formInMap: undefined,
  refusedInItself: undefined,
  definitions: {},
  named: { value: undefined, set: "a map", row: { place: "the calls of a map", isExpression: true } },

  read(base, fields, { reader, limits, list, leaveOut }) {
    const source = readSource(fields, "map", reader);
    const concurrency = reader.number(fields.at("concurrency"), limitBounds.concurrency) ?? limits.concurrency;
    if (concurrency > limits.concurrency) {
      const message = `is ${concurrency}, above the ${limits.concurrency} of the job`;
      const hint = "lower it, or raise limits.concurrency";
      reader.faults.add("PROGRAM_LIMIT_INVALID", fields.at("concurrency").path, message, hint);
    }
    const calls = list(fields.at("do"), "map", callCount);
    const onRows = fields.has("onRows") ? reader.fields(fields.at("onRows"), onRowsForm) : undefined;
    const pointOf = (name: string) => onRows && readName(onRows.at(name), reader);
    if (source === undefined) {
      for (const call of calls) leaveOut(call);
      return undefined;
    }
    const tolerate = readTolerance(fields.at("tolerate"), reader);
    const points = { failed: pointOf("failed"), unknown: pointOf("unknown") };
    const keep = readKeep(fields.at("keep"), "calls", reader);
    return { kind: "map", ...base, ...source, concurrency, tolerate, onRows: points, calls, keep };
  },

  check(step, { scope, check, step: checkCall }) {
    const row = checkSource({ step, field: "map" }, scope, check);
    const calls = new Map<string, EarlierCall>();
    for (const call of step.calls) {
      const { own } = checkCall(call, { ...scope, row, calls: new Map(calls) });
      const type = own.value === "none" ? undefined : own.value.type;
      calls.set(call.id, { type, maySkip: call.when !== undefined });
    }
    checkUnasked(step, check);
    const kept = step.keep.map(
      ([name, path]) => [name, typeOfKept(step, { name, path }, { ...scope, calls }, check)] as const,
    );
    if (row === "any") return { own: { ...nothing, set: "any" }, inner: [] };
    const fields = withKept({ row, kept, path: keepPath(step) }, check);
    return { own: { ...nothing, set: { fields, hasStates: true } }, inner: [] };
  },

  title: ({ calls }) => `For each row: ${quoted(calls.map(titleOfAction).join(", "))}`,
  lists: () => [],
  calls: ({ calls }) => calls.filter(isCall),
  runs: ({ calls }) => calls.flatMap((call) => (isCall(call) ? [] : [call.skill])),
  asks: ({ onRows }) => (["failed", "unknown"] as const).flatMap((state) => askedAbout(state, onRows[state])),
  estimate: ({ source, calls }, { sizeOf, list }) => upTo(sizeOf(source), list(calls)),
  setSize: ({ source }, { sizeOf }) => sizeOf(source),
};

function titleOfAction(step: RowStep): string {
  if (!isCall(step)) return `run ${slugTitle(step.skill)}`;
  return step.kind === "http" ? `${step.http.method} ${step.http.host}` : slugTitle(step.tool);
}

/**
 * Checks the questions that a `map` step declares about its failed rows, or about rows whose call may or may not have been executed.
 * Records an error if no row can ever be in that state, because the question would never be asked.
 */
function checkUnasked({ pointer, onRows, calls, tolerate }: MapStep, { faults, actions }: Check): void {
  const path = [...pathOf(pointer), "onRows"];
  const refused = (state: string, why: string, hint: string) =>
    faults.addYounger("PROGRAM_POINT_INVALID", [...path, state], `is never asked, because ${why}`, hint);
  if (
    onRows.unknown !== undefined &&
    calls.every((call) => isCall(call) && effectOf(call, actions)?.access === "read")
  ) {
    refused("unknown", "its calls only read, and a read is never in doubt", "leave it out");
  }
  const toleratesAll = tolerate.percent >= toleratedPercent.max && tolerate.count >= toleratedRows.max;
  if (onRows.failed !== undefined && toleratesAll && !faults.has(`${pointer}/tolerate`)) {
    refused("failed", "tolerate lets every row fail", "lower tolerate, or leave it out");
  }
}

/**
 * Returns the type of a field that a `map` step copies from a call's answer into its new row. If the call was skipped, the field is null.
 * The program therefore needs no `else` for it.
 */
function typeOfKept(
  step: MapStep,
  { name, path }: { readonly name: string; readonly path: Path },
  scope: Scope,
  { faults }: Check,
): ValueType {
  const found = resolveType(scope, { root: "calls", path, text: ["calls", ...path].join(".") });
  if ("type" in found) return found.type;
  if (path[1] === "error") {
    const hint = `leave it out: take the failed rows with {"limit": "${step.id}", "max": 100, "states": ["failed"]}; the receipt of ${step.id} has their errors (svc jobs show)`;
    faults.add(
      "PROGRAM_REFERENCE_INVALID",
      [...keepPath(step), name],
      "a row does not keep the error of its calls",
      hint,
    );
    return undefined;
  }
  faults.add("PROGRAM_REFERENCE_INVALID", [...keepPath(step), name], found.fault, found.hint);
  return undefined;
}

function readTolerance(node: ShapeNode, reader: ShapeReader): MapStep["tolerate"] {
  const fields = node.value === undefined ? undefined : reader.fields(node, tolerateForm);
  if (fields === undefined) return { count: 0, percent: 0 };
  if (!fields.has("count") && !fields.has("percent")) {
    reader.faults.add("PROGRAM_MALFORMED", node.path, "names no limit", "add count, percent or both");
  }
  return {
    count: reader.number(fields.at("count"), toleratedRows) ?? toleratedRows.max,
    percent: reader.number(fields.at("percent"), { ...toleratedPercent, isWhole: false }) ?? toleratedPercent.max,
  };
}

function askedAbout(state: "failed" | "unknown", point: string | undefined): StepPoint[] {
  return point === undefined ? [] : [{ point, about: state, field: ["onRows", state], isCertain: false }];
}
