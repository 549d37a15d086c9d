import { AskSchema, JobsService } from "@svc/gen/jobs";
import { type Ask, AskState, type SvcClient } from "@svc/sdk";
import type { ProjectOptions } from "../../command/client.ts";
import { command, type Run } from "../../command/declared.ts";
import type { JsonOption } from "../../command/options.ts";
import { messageText } from "../../text/message.ts";
import { numberText, plainLines, plainText, spanText } from "../../text/plain.ts";
import { factLines, timeText } from "../../text/table.ts";
import { callsText, namesOf, rowsText } from "../jobs/text.ts";
import { repeatedOptions } from "../jobs/watch/watch-job.ts";
import { findAsk, questionLines, questionOfAsk, questionOfJob } from "./question.ts";

const askStates = namesOf(AskState);

type ShowOptions = ProjectOptions & JsonOption & { job?: string };

/** The command `svc asks show`, which prints one question of a job to a person. */
export const addAskShow = command(
  JobsService.method.getAsk,
  {
    says: "show one question: its escalation, its decision, and the commands that answer it",
    takes: { "<id>": "id of the question, ask_…" },
    options: [["--job <id>", "job of the question, job_…; without it, the command searches for the job"]],
    json: "the question as JSON",
    examples: [
      "svc asks show ask_01h455vb4pex5vsknk084sn02q",
      "svc asks show ask_01h455vb4pex5vsknk084sn02q --job job_01h455vb4pex5vsknk084sn02q --json",
    ],
  },
  async ({ values: options, context, project, asJson }: Run<ShowOptions & { readonly id: string }>) => {
    const { id } = options;
    const client = await project();
    const ask = await readAsk(client, id, options.job);
    if (ask === undefined) return;
    if (asJson) return context.print(messageText(AskSchema, ask));
    for (const line of factLines(factsOf(ask))) context.print(line);
    if (ask.state !== AskState.PENDING) return;
    context.print("");
    const { job } = await client.jobs.getJob({ id: ask.jobId });
    const asked = job && questionOfJob(job);
    // Prefers the question from the job, because it also has the params of the program. If the job no longer waits for this ask, uses the
    // question from the ask itself.
    const question = asked?.requestId === ask.requestId ? asked : questionOfAsk(ask);
    for (const line of questionLines(question, repeatedOptions(options))) context.print(line);
  },
);

async function readAsk(client: SvcClient, requestId: string, jobId: string | undefined): Promise<Ask | undefined> {
  if (jobId === undefined) return findAsk(client, requestId);
  return (await client.jobs.getAsk({ jobId, requestId })).ask;
}

/**
 * Returns the result of the simulation run that took place before people were asked about the plan. Returns an empty text if there was no
 * simulation run.
 */
function simulationText({ jobId, simulationReceipt }: Ask): string {
  if (simulationReceipt === undefined) return "";
  const { rows, calls, limits } = simulationReceipt;
  const writes = limits?.used?.writes ?? 0;
  const did = [rowsText(rows, "map"), callsText(calls), `${numberText(writes)} writes not sent`].filter(Boolean);
  return `${did.join("; ")} (\`svc jobs show ${jobId}\` shows the simulation run)`;
}

function factsOf(ask: Ask): [name: string, value: string][] {
  const { escalation, decision } = ask;
  const ladder = escalation.map(({ principalId, timeoutSeconds }) => {
    return `${plainText(principalId)}${timeoutSeconds === 0 ? "" : ` for ${spanText(timeoutSeconds * 1000)}`}`;
  });
  return [
    ["ask", ask.requestId],
    ["job", [ask.jobId, ask.stepId].filter(Boolean).join(", step ")],
    ["point", ask.pointId],
    ["state", askStateText(ask)],
    ["question", plainLines(ask.question).join("\n")],
    ["simulated", simulationText(ask)],
    ["asked", timeText(ask.askedAt)],
    ["ladder", ladder.join(", then ")],
    ["reached", ask.deliveredPrincipals.map(plainText).join(", ")],
    ["told by", [ask.toolSlug, ask.toolCallId].filter(Boolean).join(", ")],
    ["published", ask.delivery],
    ["settled", decision === undefined ? "" : timeText(decision.at)],
    ["by", decision === undefined ? "" : plainText(decision.principalId || "the clock")],
    ["with", decision === undefined ? "" : [decision.keyId, decision.surface].filter(Boolean).join(", ")],
    ["note", plainText(decision?.note ?? "")],
    ["overrides", decision?.overridesJson ?? ""],
  ];
}

/** Returns the state of a question (for example `answered: proceed`). */
export function askStateText({ state, exhausted, decision }: Ask): string {
  const name = askStates.get(state) ?? String(state);
  if (state === AskState.PENDING && exhausted) return "pending, exhausted";
  return decision === undefined ? name : `${name}: ${decision.continuation}`;
}
