import type { CallStep, JsonObject, JsonValue } from "../program/program.ts";
import { valueAt } from "../program/resolve.ts";
import { ask, systemPoint } from "./ask.ts";
import { addRows, noRows } from "./documents.ts";
import { type CallFault, type Invoked, invoke } from "./invoke.ts";
import type { Run } from "./run.ts";
import { countCalls, failAtLimit, failStep, leaveUntil, type Next, noteProgress } from "./step-end.ts";
import { undoEntryOf } from "./undo.ts";
import { fillCall, isJsonObject } from "./values.ts";

/** What is told of a call's fault. An app that refuses a page may quote the rows of another, which stay inside. */
function toldOf(step: CallStep, fault: CallFault): Pick<CallFault, "code" | "message"> {
  return step.rows === undefined ? fault : { code: fault.code, message: fault.plain };
}

/** The most of an answer that is kept as the value of a step. */
const valueBytesMax = 65_536;

/** Moves a call step on by one call: the whole of it, or one page. */
export async function advanceCall(run: Run, step: CallStep): Promise<Next> {
  if (!run.hasBegun(step.id)) run.begin(step, step);
  // Whoever watches sees the step begin before its call is made.
  await run.flush();
  const args = argumentsOf(run, step);
  if ("fault" in args) return failStep(run, step.id, args.fault);
  const { generation } = run.job;
  const invoked = await invoke(run, {
    call: step,
    place: { stepId: step.id, ordinal: run.progress?.page?.pages ?? 0, callId: step.id },
    args: args.args,
    attempts: run.progress?.retries?.["call"]?.attempts ?? 0,
    appGeneration: run.progress?.appGeneration ?? generation,
    isUndo: false,
  });
  return takeAnswer(run, step, invoked);
}

function argumentsOf(run: Run, step: CallStep): ReturnType<typeof fillCall> {
  const filled = fillCall(step, run.values(), run.job.stepArgs);
  const token = run.progress?.page?.token;
  const page = step.rows?.page;
  if ("fault" in filled || page === undefined || token === undefined) return filled;
  return { args: { ...filled.args, [page.arg]: token } };
}

async function takeAnswer(run: Run, step: CallStep, invoked: Invoked): Promise<Next> {
  countCalls(run, step.id, invoked.calls);
  if (invoked.calls.retried > 0)
    run.note("call-retried", step.id, { toolSlug: step.tool, times: invoked.calls.retried });
  switch (invoked.kind) {
    case "ok":
      return step.rows === undefined
        ? keepAnswer(run, step, invoked.value)
        : keepRows(run, step, step.rows, invoked.value);
    case "failed":
      return failStep(run, step.id, toldOf(step, invoked.fault));
    case "unknown":
      return doubt(run, step, invoked.fault);
    case "limit":
      return failAtLimit(run, step.id, invoked.limit);
    case "postponed":
      return postpone(run, step, invoked);
  }
}

function postpone(run: Run, step: CallStep, { attempts, waitMs }: Invoked & { kind: "postponed" }): Promise<Next> {
  const dueAt = run.now + waitMs;
  run.setProgress({ ...run.progress, stepId: step.id, retries: { call: { attempts, dueAt } } });
  return leaveUntil(run, dueAt);
}

async function keepAnswer(run: Run, step: CallStep, value: JsonValue): Promise<Next> {
  const isRead = run.tool(step.tool).action.class === "read";
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes <= valueBytesMax) run.keepValue(step.id, value);
  else if (isRead) {
    const message = `the answer has ${bytes} bytes; at most ${valueBytesMax} are kept: ask for less, or take it as rows`;
    return failStep(run, step.id, { code: "ANSWER_TOO_LARGE", message });
  }
  const undo = undoEntryOf(run, step, { ordinal: 0, output: value });
  if (undo !== undefined) run.addUndo([undo]);
  run.finishStep(step.id, run.isSimulated && !isRead ? "simulated" : "completed", run.job.position + 1);
  return "on";
}

/** What stands in doubt is decided by people: the service does not know whether it was done. */
function doubt(run: Run, step: CallStep, fault: CallFault): Promise<Next> {
  run.note("call-in-doubt", step.id, { toolSlug: step.tool, code: fault.code });
  run.patchReceipt(step.id, {
    errors: [{ code: fault.code, count: 1, firstOrdinal: 0, sample: toldOf(step, fault).message.slice(0, 500) }],
  });
  return ask(
    run,
    step.id,
    systemPoint(
      "in_doubt",
      `Step ${step.id} called ${step.tool}, and whether it was carried out is not known. Treat it as done?`,
    ),
  );
}

async function keepRows(
  run: Run,
  step: CallStep,
  spec: NonNullable<CallStep["rows"]>,
  answer: JsonValue,
): Promise<Next> {
  const list = valueAt(answer, spec.from) ?? [];
  if (!Array.isArray(list)) {
    return failStep(run, step.id, {
      code: "ROWS_MISSING",
      message: `the answer has no list at ${spec.from.join(".")}`,
    });
  }
  const { rows: rowsMax } = run.program.limits;
  if (run.used.rows + list.length > rowsMax) return failAtLimit(run, step.id, "rows");
  storeRows(
    run,
    step.id,
    list.map((item: JsonValue) => pick(item, spec.keep)),
  );
  const pages = (run.progress?.page?.pages ?? 0) + 1;
  const token = spec.page === undefined ? undefined : valueAt(answer, spec.page.from);
  if (spec.page === undefined || token === undefined || token === null || token === "") {
    run.finishStep(step.id, "completed", run.job.position + 1);
    return "on";
  }
  if (pages >= spec.page.max) {
    const message = `${pages} pages were fetched and there are more`;
    return failStep(run, step.id, { code: "PAGE_LIMIT", message });
  }
  run.setProgress({ stepId: step.id, page: { token, pages } });
  noteProgress(run, step.id, { pages });
  await run.commit("keep");
  return "on";
}

function storeRows(run: Run, setId: string, rows: readonly JsonObject[]): void {
  const counts = run.receiptOf(setId).rows ?? noRows;
  const numbered = rows.map((data, index) => ({
    data,
    rowNumber: run.used.rows + index + 1,
    ordinal: counts.in + index,
  }));
  run.addRows(
    numbered.map(({ data, rowNumber }) => ({ rowNumber, data: run.seals.seal(`rows/${rowNumber}`, data) })),
    numbered.map(({ rowNumber, ordinal }) => {
      return { setId, ordinal, rowNumber, state: "in" as const, doneCalls: 0, errorCode: "", outputs: null };
    }),
  );
  run.used = { ...run.used, rows: run.used.rows + rows.length };
  run.patchReceipt(setId, { rows: addRows(counts, { ...noRows, in: rows.length, ok: rows.length }) });
}

/** The kept fields of an item; of one that is no object, `value`. */
function pick(item: JsonValue, keep: readonly string[]): JsonObject {
  const fields = isJsonObject(item) ? item : { value: item };
  return Object.fromEntries(
    keep.flatMap((name) => (Object.hasOwn(fields, name) ? [[name, fields[name] as JsonValue]] : [])),
  );
}
