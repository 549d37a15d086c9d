import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { systemClock } from "@svc/core";
import { JobsService } from "@svc/gen/jobs";
import { AskState } from "@svc/sdk";
import type { Run } from "../command/declared.ts";
import { parseCount, parseSpan } from "../command/options.ts";
import { call, list, topic } from "../command/topic.ts";
import { findAsk } from "../custom/asks/question.ts";
import { addAskShow, askStateText } from "../custom/asks/show.ts";
import { timeText } from "../text/table.ts";

const { listAsks, createAnswerLink } = JobsService.method;

type LinkValues = { readonly id: string; readonly as: string; readonly expiresIn?: number };

/** The commands `svc asks list|show|link`, for questions of jobs to people. */
export const addAsksCommand = topic({
  says: "list and show questions of jobs, and create links that answer them",
  examples: ["svc asks", "svc asks list --principal lead --state all"],
  commands: {
    list: list(listAsks, {
      says: "list the project's questions, newest first; by default those that wait for an answer",
      isDefault: true,
      shown: "svc asks",
      options: [
        [
          "--state <state>",
          "only questions in this state",
          { choices: ["pending", "answered", "defaulted", "withdrawn", "all"], default: "pending" },
        ],
        [
          "--principal <id>",
          "only questions that wait for this contact, and settled ones that waited for it last",
          { fills: "principalId" },
        ],
        ["--job <id>", "only questions that this contact has now, or had when they were settled", { fills: "jobId" }],
        ["--program <id>", "only questions of this standing program, stp_…", { fills: "standingProgramId" }],
        ["--limit <count>", "largest number of questions to list", { parse: parseCount, default: 100 }],
      ],
      request: ({ values: { state } }) => ({
        state: AskState[String(state).toUpperCase() as keyof typeof AskState] ?? AskState.UNSPECIFIED,
      }),
      rows: "asks",
      table: {
        ASKED: "askedAt",
        ID: "requestId",
        JOB: "jobId",
        STATE: askStateText,
        WITH: "principalId",
        QUESTION: "question",
      },
      json: "the questions as a JSON list",
      examples: ["svc asks list", "svc asks list --state answered --principal lead"],
    }),
    show: addAskShow,
    link: call(createAnswerLink, {
      says: "create a link with which a contact without a key answers one question, and print it; svc does not show it again",
      takes: { "<id>": "id of the question, ask_…" },
      options: [
        [
          "--as <principal>",
          "the contact who may answer with it; the question must have reached the contact",
          { fills: "principalId", required: true },
        ],
        [
          "--expires-in <duration>",
          "how long the link is valid, such as 2d or PT12H, at most 30 days (default: 30 days)",
          { parse: parseSpan },
        ],
      ],
      request: async ({ project, values: { id, expiresIn } }: Run<LinkValues>) => {
        const { jobId, requestId } = await findAsk(await project(), id);
        const end = expiresIn === undefined ? {} : { expiresAt: timestampFromMs(systemClock.now() + expiresIn) };
        return { jobId, requestId, ...end };
      },
      json: "the link as JSON",
      shows: ({ url }) => url,
      notes: ({ expiresAt }, { values }) =>
        `Valid until ${timeText(expiresAt)}. Anyone with the link can use it: send it to ${values.as} only.`,
      examples: ["svc asks link ask_01h455vb4pex5vsknk084sn02q --as lead"],
    }),
  },
});
