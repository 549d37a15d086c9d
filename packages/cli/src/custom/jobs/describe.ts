import { parseId } from "@svc/core";
import {
  type DescribedStep,
  DescribeProgramResponseSchema,
  JobsService,
  type ProgramRead,
  ProgramReadKind,
} from "@svc/gen/jobs";
import { withCommands } from "../../command/api-names.ts";
import { command, type Run } from "../../command/declared.ts";
import { CommandError } from "../../command/error.ts";
import { messageText } from "../../text/message.ts";
import { plainText } from "../../text/plain.ts";
import { countText, tableLines } from "../../text/table.ts";
import { faultLines, readProgramFile } from "./program-file.ts";

/** The command `svc jobs describe`, which shows the steps of a program and the data that each step reads. */
export const addJobDescribe = command(
  JobsService.method.describeProgram,
  {
    says: "show the steps of a program, or of a job's program, and the data that each step reads",
    takes: { "<program>": "file of the program, - for standard input, or the id of a job, job_…" },
    json: "the steps, their reads and the names that each step can use as JSON",
    examples: ["svc jobs describe remind.json", "svc jobs describe job_01h455vb4pex5vsknk084sn02q"],
  },
  async ({ values: { program: given }, context, project, asJson }: Run<{ readonly program: string }>) => {
    const isJob = parseId("job", given) !== undefined;
    const file = isJob ? undefined : await readProgramFile(given, [], context);
    const { jobs } = await project();
    const answer = await jobs.describeProgram(
      file === undefined ? { jobId: given } : { programJson: file.programJson },
    );
    const { faults, omittedFaults, steps, result } = answer;
    if (asJson) context.print(messageText(DescribeProgramResponseSchema, answer));
    else {
      const rows = [
        ...stepRows(steps),
        ...result.map(({ name, reads }) => [`result.${name}`, "result", "-", readsText(reads)]),
      ];
      for (const line of tableLines(["STEP", "KIND", "DOES", "READS"], rows)) context.print(line);
    }
    const count = faults.length + omittedFaults;
    if (file === undefined || count === 0) return;
    const told = faults.map(({ field, reason, message, help }) => ({
      field,
      reason,
      help: withCommands(`${message}: ${help}.`),
    }));
    if (!asJson) for (const line of await faultLines(told, file)) context.note(line);
    throw new CommandError(`${file.name} has ${countText(count, "problem")}`);
  },
);

/** Returns a row for each step. A step inside another step is indented. */
function stepRows(steps: readonly DescribedStep[]): string[][] {
  const levels = new Map<string, number>();
  return steps.map(({ stepId, kind, parentStepId, branch, title, reads }) => {
    const level = parentStepId === "" ? 0 : (levels.get(parentStepId) ?? 0) + 1;
    levels.set(stepId, level);
    const place = branch === "" ? "" : `${plainText(branch)}: `;
    return [`${"  ".repeat(level)}${place}${plainText(stepId)}`, kind, plainText(title), readsText(reads)];
  });
}

const kindWords: Readonly<Partial<Record<ProgramReadKind, string>>> = {
  [ProgramReadKind.ROWS]: "rows of ",
  [ProgramReadKind.COUNT]: "number of ",
  [ProgramReadKind.ERROR]: "error of ",
  [ProgramReadKind.UNDONE]: "undone answer of ",
};

/** Returns the data that a step reads, such as `rows of deals (title, value), input.chat`. Each source is named once. */
function readsText(reads: readonly ProgramRead[]): string {
  const texts = [...Map.groupBy(reads, ({ what, from }) => `${kindWords[what] ?? ""}${from}`)].map(
    ([source, group]) => {
      const paths = group.flatMap(({ path }) => (path === "" ? [] : [path]));
      return paths.length === 0 ? source : `${source} (${paths.join(", ")})`;
    },
  );
  return plainText(texts.join("; ")) || "-";
}
