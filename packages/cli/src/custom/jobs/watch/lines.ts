import { timestampMs } from "@bufbuild/protobuf/wkt";
import { isObject, isoTime, parseExactJson, scalarText } from "@svc/core";
import type { Job, JobEvent } from "@svc/sdk";
import type { CommandContext } from "../../../command/context.ts";
import { plainText } from "../../../text/plain.ts";
import { countText } from "../../../text/table.ts";
import { readProgram, type ShownProgram } from "../shown-program.ts";
import { rowsText } from "../text.ts";
import { createPaceMeter, doneRows, placedText, progressText, type StepRows } from "./step.ts";

/** The part of `svc jobs watch` that shows the watched job to the user on the terminal. */
export type WatchView = {
  /** Shows the next entry of the job's log. */
  event(event: JobEvent): void;
  /** Shows the question for which a job waits, and the commands that answer it. */
  question(lines: readonly string[]): void;
  /** Shows that the connection broke and that the command tries to connect again. */
  broken(reason: string): void;
  /** Shows the job for the last time. `job`: its latest state, if known. */
  close(job?: Job): Promise<void>;
};

/** Note that a watch shows for a job in the sandbox. */
const sandboxNote = "in the sandbox: results of calls are made up, and no app is called";

/** Returns a view that shows a watched job as lines on standard error. Each log entry that is worth showing has one line. */
export function createLineView(job: Job, context: CommandContext): WatchView {
  const describe = createDescriber(readProgram(job));
  return {
    event(event) {
      const text = describe(event);
      if (text !== undefined) context.note(`${context.style("dim", timeOfDay(event))} ${text}`);
    },
    question(lines) {
      for (const line of lines) context.note(line);
    },
    broken: (reason) => context.note(`The connection broke (${plainText(reason)}). Connecting again.`),
    async close() {},
  };
}

function timeOfDay(event: JobEvent): string {
  return isoTime(timeOf(event)).slice(11, 19);
}

function timeOf({ at }: JobEvent): number {
  return at === undefined ? 0 : timestampMs(at);
}

type Payload = { readonly [name: string]: unknown };

/**
 * Returns a function that describes the entries of one job's log. The function must receive all entries from the start of the log, in
 * order. It returns undefined for an entry that is not shown.
 */
function createDescriber(program: ShownProgram): (event: JobEvent) => string | undefined {
  const rowsOf = new Map<string, StepRows>();
  const meter = createPaceMeter();
  const startsOf = new Map(program.steps.map((step) => [step.id, placedText(step)]));
  return (event) => {
    const payload = readPayload(event);
    const { stepId } = event;
    const rows = payload["rows"];
    if (isObject(rows)) rowsOf.set(stepId, rows);
    if (event.type === "step-started") {
      rowsOf.delete(stepId);
      meter.measure({ stepId, atMs: timeOf(event), done: 0, total: undefined });
      const attempt = Number(payload["attempt"]) > 1 ? `, attempt ${payload["attempt"]}` : "";
      return `${stepId}: ${startsOf.get(stepId) || "started"}${attempt}`;
    }
    if (event.type === "step-progress") {
      if (typeof payload["rounds"] === "number")
        return `${stepId}: not yet after ${countText(payload["rounds"], "round")}`;
      const done = doneRows(program, stepId, rowsOf);
      if (done === undefined) return undefined;
      const pages = typeof payload["pages"] === "number" ? `, ${countText(payload["pages"], "page")}` : "";
      return `${stepId}: ${progressText(done, meter.measure({ stepId, atMs: timeOf(event), ...done }))}${pages}`;
    }
    if (event.type === "step-finished") {
      const kind = program.steps.find(({ id }) => id === stepId)?.kind ?? "";
      const counts = rowsText(rowsOf.get(stepId), kind);
      return `${stepId}: ${word(payload, "state")}${counts === "" ? "" : `, ${counts}`}`;
    }
    return otherText(event, payload);
  };
}

/** Reasons for a job's status change that give no information beyond the status itself. */
const plainReasons: ReadonlySet<string> = new Set(["", "started", "finished"]);

function otherText({ type, stepId }: JobEvent, payload: Payload): string | undefined {
  const step = stepId === "" ? "" : `${stepId}: `;
  const text = (name: string) => word(payload, name);
  switch (type) {
    case "job-submitted":
      return `submitted, ${text("mode")}${payload["sandbox"] === true ? `; ${sandboxNote}` : ""}`;
    case "job-status-changed":
      return `${text("to")}${plainReasons.has(text("reason")) ? "" : ` (${text("reason")})`}`;
    case "ask-escalated":
      return `${step}the question went from ${text("from")} to ${text("to")}`;
    case "ask-exhausted":
      return `${step}no one answered in time; the question can still be answered`;
    case "ask-settled":
      return `${step}${text("continuation")}, by ${text("by") || "the clock"}`;
    case "answer-refused":
      return `${step}an answer was refused: ${text("reason")}`;
    case "compensation-step":
      return `${step}undoing: ${text("state")}, ${text("done") || 0} undone, ${text("failed") || 0} failed`;
    // This entry is not shown, because the question itself is shown.
    case "ask-raised":
      return undefined;
    default:
      return `${step}${type.replaceAll("-", " ")}${particulars(payload)}`;
  }
}

/**
 * Returns the simple values (such as texts and numbers) in the payload of a job's log entry, with their names. Used for log entries that
 * have no text of their own.
 */
function particulars(payload: Payload): string {
  const facts = Object.entries(payload).flatMap(([name, value]) => {
    const text = scalarText(value);
    return text === undefined ? [] : [`${name} ${plainText(text)}`];
  });
  return facts.length === 0 ? "" : ` (${facts.join(", ")})`;
}

function word(payload: Payload, name: string): string {
  const value = payload[name];
  return typeof value === "string" || typeof value === "number" ? plainText(String(value)) : "";
}

function readPayload({ payloadJson }: JobEvent): Payload {
  const value: unknown = payloadJson === "" ? {} : parseExactJson(payloadJson);
  return isObject(value) ? value : {};
}
