import { type GetStepResponse, type JobStep, JobsService, ListStepsResponseSchema } from "@svc/gen/jobs";
import { command, type Run } from "../../command/declared.ts";
import { indentJson, messageText } from "../../text/message.ts";
import { numberText, plainText, spanText } from "../../text/plain.ts";
import { tableLines } from "../../text/table.ts";
import { callsText } from "./text.ts";

/** The command `svc jobs steps`, which lists the steps of a job with their progress in rows. */
export const addJobSteps = command(
  JobsService.method.listSteps,
  {
    says: "list the steps of a job with their progress: rows done, rows per second, rows left",
    takes: { "<id>": "id of the job, job_…" },
    json: "the steps as JSON",
    examples: ["svc jobs steps job_01h455vb4pex5vsknk084sn02q"],
  },
  async ({ values: { id }, context, project, asJson }: Run<{ readonly id: string }>) => {
    const { jobs: client } = await project();
    const found = await client.listSteps({ jobId: id });
    if (asJson) return context.print(messageText(ListStepsResponseSchema, found));
    const header = ["STEP", "KIND", "STATE", "ROWS", "LEFT", "PER SECOND", "TIME LEFT", "CALLS"];
    for (const line of tableLines(header, found.steps.map(stepRow))) context.print(line);
    for (const line of found.steps.flatMap(simulatedLines)) context.print(line);
    if (found.overridesJson === "") return;
    context.print("\nChanged by answers and retries:");
    for (const line of indentJson(found.overridesJson).split("\n")) context.print(line);
  },
);

function stepRow(step: JobStep): string[] {
  const { stepId, kind, state, branch, rowsRemaining, rowsPerSecond, calls } = step;
  const left = rowsRemaining ?? 0;
  return [
    stepId,
    kind,
    [state.replaceAll("_", " "), ...(branch === "" ? [] : [`chose ${branch}`])].join(", "),
    rowsOf(step),
    rowsRemaining === undefined ? "-" : numberText(rowsRemaining),
    rowsPerSecond === 0 ? "-" : String(rowsPerSecond),
    left === 0 || rowsPerSecond === 0 ? "-" : spanText((left / rowsPerSecond) * 1000),
    callsText(calls) || "-",
  ];
}

/** Returns how many rows a step has read and how many it has made from them (for example `1,000 -> 20`). */
function rowsOf({ rowsDone, rowsMade }: JobStep): string {
  if (rowsDone === 0 && !rowsMade) return "-";
  const taken = numberText(rowsDone);
  return rowsMade === undefined ? taken : `${taken} -> ${numberText(rowsMade)}`;
}

/** Returns lines with the first writes of a simulated step. Each line shows a call with its arguments. */
function simulatedLines({ stepId, simulatedCalls, simulatedWrites }: JobStep): string[] {
  if (simulatedCalls.length === 0) return [];
  const lines = simulatedCalls.map(({ toolSlug, entityId, argumentsJson }) => {
    const sent = argumentsJson === "" ? "too long to show" : plainText(argumentsJson);
    return `  ${[toolSlug, ...(entityId === "" ? [] : [`as ${entityId}`]), sent].join(" ")}`;
  });
  const shown = simulatedWrites > lines.length ? `, the first ${numberText(lines.length)} of them` : "";
  return [
    "",
    `${stepId} would make ${simulatedWrites === 1 ? "1 write" : `${numberText(simulatedWrites)} writes`}${shown}:`,
    ...lines,
  ];
}

/** Returns the lines with which `svc jobs step` shows one step of a job. */
export function stepLines({ step, ...found }: GetStepResponse): string[] {
  if (step === undefined) return [];
  const { receipt, rows, hasMoreRows, outputRows, canRetry, retryWhy } = found;
  const of = outputRows === 0 ? "Output:" : `Fields of ${outputRows === 1 ? "1 row" : `the first ${outputRows} rows`}:`;
  return [
    `${step.stepId}: ${plainText(step.title)}, ${step.state.replaceAll("_", " ")}`,
    ...titled(
      "Errors:",
      (receipt?.errors ?? []).map(({ code, sample, failure }) => `  ${code}: ${plainText(failure?.title ?? sample)}`),
    ),
    ...titled("Arguments:", found.arguments.map(argumentLine)),
    ...titled(
      of,
      found.output.map(({ path, types, count }) => `  ${plainText(path) || "value"}: ${types.join(" or ")}, ${count}`),
    ),
    ...titled(
      hasMoreRows ? `The first ${rows.length} rows:` : "Rows:",
      rows.map(({ ordinal, state, errorCode, message }) =>
        ["  ", String(ordinal), ` ${state}`, errorCode && ` ${errorCode}`, message && `: ${plainText(message)}`].join(
          "",
        ),
      ),
    ),
    "",
    canRetry ? "A retry can start at this step." : `No retry can start at this step: ${plainText(retryWhy)}.`,
  ];
}

function titled(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ["", title, ...lines];
}

function argumentLine({ callId, path, source, written, type, length }: GetStepResponse["arguments"][number]): string {
  const shape = [type, ...(length === undefined ? [] : [`of ${length}`])].filter((part) => part !== "").join(" ");
  return `  ${callId} ${plainText(path) || "/"}: ${source} ${plainText(written)}${shape === "" ? "" : ` (${shape})`}`;
}
