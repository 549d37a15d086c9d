import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  byId,
  type Id,
  linkExpiry,
  optionalId,
  type ProjectId,
  parseId,
  projectList,
  requireId,
  requireProject,
  storableText,
} from "@svc/core";
import { type AskRecord, asksForProject } from "@svc/db/asks/repo";
import type { ReceiptDocument } from "@svc/db/documents/jobs";
import { jobsForProject } from "@svc/db/jobs/repo";
import { readSimulationReceipts } from "@svc/db/jobs/simulation-run";
import type { Ask, Job, JobsService, Receipt } from "@svc/gen/jobs";
import { answerAsk } from "./answer.ts";
import { answerLinkLifeMs, createAnswerLinks } from "./answer-link.ts";
import type { AskContext } from "./context.ts";
import { askMessage, stateOfFilter } from "./convert.ts";
import { readAskFates } from "./delivery-state.ts";
import { askFaults } from "./errors.ts";
import { askEndpointMethods } from "./service/endpoints.ts";

/** Dependencies of the API methods about asks (questions of jobs to people). They contain all dependencies of `AskContext`. */
export type AskServiceContext = AskContext & {
  /**
   * Returns a job in the form in which GetJob returns it. AnswerAsk calls this function after it has stored an answer, because its response
   * contains the job.
   */
  readonly readJob: (projectId: ProjectId, jobId: Id<"job">) => Promise<Job>;
  /** Returns a stored receipt (report of a job's steps and calls) in the form of the API. */
  readonly receiptMessage: (receipt: ReceiptDocument) => Receipt;
};

type Methods = Pick<
  ServiceImpl<typeof JobsService>,
  | "createAnswerLink"
  | "answerAsk"
  | "listAsks"
  | "getAsk"
  | "createAskEndpoint"
  | "listAskEndpoints"
  | "deleteAskEndpoint"
>;

/** Returns the methods AnswerAsk, ListAsks and GetAsk, and the methods about ask endpoints. */
export function askMethods(context: AskServiceContext): Methods {
  const { db, sealer } = context;
  const links = createAnswerLinks(context);
  return {
    ...askEndpointMethods(context),

    async answerAsk(req, ctx) {
      const { projectId, keyId, role } = requireProject(ctx);
      const jobId = requireId("job", "jobId", req.jobId);
      const { requestId, principalId, continuation, overridesJson, note, deliveryId } = req;
      const answer = { requestId, principalId, continuation, overridesJson, note, deliveryId };
      await answerAsk(context, { ...answer, projectId, keyId, role, jobId });
      return { job: await context.readJob(projectId, jobId) };
    },

    async createAnswerLink(req, ctx) {
      const principal = requireProject(ctx);
      const jobId = requireId("job", "jobId", req.jobId);
      const { requestId, principalId } = req;
      const expiresAt = linkExpiry(req.expiresAt, context.clock.now(), answerLinkLifeMs);
      const { url } = await links.create(principal, { jobId, requestId, principalId, expiresAt });
      return { url, expiresAt: timestampFromMs(expiresAt) };
    },

    listAsks: projectList(sealer, {
      call: "ListAsks",
      order: byId("ask"),
      filter: ({ state, principalId, jobId, standingProgramId }) => ({
        state: stateOfFilter(state),
        principalId: textFilter(principalId),
        jobId: optionalId("job", "jobId", jobId),
        standingProgramId: textFilter(standingProgramId),
      }),
      rows: ({ filter, page, caller: { projectId } }) => asksForProject(db, projectId).list(filter, page),
      answer: async (rows, { caller: { projectId } }) => ({ asks: await messagesOf(context, projectId, rows) }),
    }),

    async getAsk(req, ctx) {
      const { projectId } = requireProject(ctx);
      const jobId = optionalId("job", "jobId", req.jobId);
      const id = parseId("ask", req.requestId);
      const ask = id && (await asksForProject(db, projectId).find(id, jobId));
      if (ask !== undefined) return { ask: (await messagesOf(context, projectId, [ask]))[0] };
      const isMissing = jobId !== undefined && (await jobsForProject(db, projectId).find(jobId)) === undefined;
      throw isMissing ? askFaults.JOB_NOT_FOUND("jobId", req.jobId) : askFaults.ASK_NOT_FOUND(req.requestId);
    },
  };
}

/**
 * Returns the text of a list filter in a form that a query accepts: PostgreSQL refuses the character U+0000, so U+FFFD replaces it. The
 * filter then finds nothing, which is the right result, because no stored text contains U+0000. Returns undefined for an empty text, which
 * means no filter.
 */
function textFilter(text: string): string | undefined {
  return text === "" ? undefined : storableText(text);
}

async function messagesOf(
  { db, receiptMessage }: AskServiceContext,
  projectId: ProjectId,
  asks: readonly AskRecord[],
): Promise<Ask[]> {
  const plans = asks.filter(({ approvalId, stepId }) => approvalId !== "" && stepId === "");
  const [deliveries, receipts] = await Promise.all([
    readAskFates(db, projectId, asks),
    readSimulationReceipts(db, projectId, [...new Set(plans.map(({ jobId }) => jobId))]),
  ]);
  return asks.map((ask, index) => {
    const receipt = plans.includes(ask) ? receipts.get(ask.jobId) : undefined;
    const simulationReceipt = receipt && receiptMessage(receipt);
    return askMessage(ask, { delivery: deliveries[index] ?? "", simulationReceipt });
  });
}
