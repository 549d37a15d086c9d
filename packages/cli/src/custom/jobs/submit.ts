import { JobSchema, JobsService } from "@svc/gen/jobs";
import type { Job } from "@svc/sdk";
import type { CommandContext } from "../../command/context.ts";
import { command, type Run } from "../../command/declared.ts";
import { countUpTo } from "../../command/options.ts";
import { messageText } from "../../text/message.ts";
import { questionLines, questionOfJob } from "../asks/question.ts";
import type { TypedArgument } from "../call/arguments.ts";
import { noteLines, readProgramFile, refuseDocument, setOption } from "./program-file.ts";
import { standingText } from "./text.ts";
import {
  printOutcome,
  repeatedOptions,
  type WatchOptions,
  watchJob,
  watchNotes,
  watchParts,
} from "./watch/watch-job.ts";

/** Maximum number of seconds that the command can wait for the end of the job. The call SubmitJob has the same maximum. */
const waitSecondsMax = 30;

type SubmitValues = WatchOptions & {
  readonly program: string;
  readonly set: readonly TypedArgument[];
  readonly simulate?: true;
  readonly watch?: true;
  readonly waitSeconds?: number;
};

const notes = `
Without --watch and --wait-seconds the job's id goes to standard output, and the command ends with 0 when the job is
stored; with one of them, the id goes to standard error. --wait-seconds makes one request and shows no progress; if the
time is over first, the command ends with 3, and the job continues. Values of --set get the types of the program's
inputSchema.
${watchNotes}`;

/** The command `svc jobs submit`, which checks a program, submits it as a job and prints the job's id. */
export const addJobSubmit = command(
  JobsService.method.submitJob,
  {
    says: "check a program and submit it as a job; print the job's id, or every problem with its line",
    takes: { "<program>": "file of the program, or - for standard input" },
    options: [
      ["--simulate", "read but write nothing: try the program"],
      ["--simulate-first", "simulate before the plan is approved or queued", { conflicts: "simulate" }],
      ["--watch", "show its progress until it ends"],
      [
        "--wait-seconds <count>",
        "wait so long for its end, at most 30, and print its result",
        { parse: countUpTo(waitSecondsMax), conflicts: "watch" },
      ],
      ["--idempotency-key <text>", "make the submission safe to repeat: with the same key it is the same job"],
      setOption,
    ],
    ...watchParts,
    more: notes,
    examples: [
      "svc jobs submit remind.json --simulate --watch",
      "svc jobs submit remind.json --set input.calendar=primary --idempotency-key monday --watch",
      "svc jobs submit count.json --wait-seconds 10 | jq .total",
      "generate-program | svc jobs submit - --simulate-first",
    ],
  },
  async ({ values, context, project, asJson }: Run<SubmitValues>, request) => {
    const program = await readProgramFile(values.program, values.set, context);
    const client = await project();
    const { programJson } = program;
    const mode = values.simulate ? "simulate" : "live";
    const { job, notes: found } = await client.jobs
      .submitJob({ ...request, programJson, mode })
      .catch((err: unknown) => refuseDocument(err, program, "programJson", context));
    if (job === undefined) return;
    const lines = await noteLines(found, program);
    if (values.watch || values.waitSeconds !== undefined) {
      for (const line of [job.id, ...lines]) context.note(line);
      if (values.watch) await watchJob(client, job.id, { options: values, context });
      else printOutcome(job, values, context);
      return;
    }
    context.print(asJson ? messageText(JobSchema, job) : job.id);
    noteStanding(job, values, context);
    for (const line of lines) context.note(line);
  },
);

function noteStanding(job: Job, options: WatchOptions, context: CommandContext): void {
  const words = repeatedOptions(options);
  const question = questionOfJob(job);
  const command = ["svc jobs watch", job.id, ...words].join(" ");
  context.note(`The job is ${standingText(job)}. \`${command}\` follows it.`);
  if (question !== undefined) for (const line of questionLines(question, words)) context.note(line);
}
