import type { TestRead } from "@svc/connections";
import type { ToolCaller } from "../call/call-tool.ts";
import { errorAnswerStart } from "../call/read-answer.ts";
import { answerOf } from "./call-answer.ts";

/** Makes the read of a test of a connection by the caller of tools. It rejects with the refusals of CallTool. */
export function createTestRead(caller: Pick<ToolCaller, "call">): TestRead {
  return async ({ principal, toolkit, action, args, account }) => {
    const { projectId, keyId, role, binding, confirm } = principal;
    const { callId = "", result } = answerOf(
      await caller.call({
        caller: { projectId, keyId, role, ...(binding && { binding }), ...(confirm && { confirm }) },
        toolSlug: action.slug,
        args,
        entityId: account.entityId,
        accountId: account.id,
        idempotencyKey: undefined,
        isDryRun: false,
        pinned: { toolkit, action },
      }),
    );
    const { outcome, message, providerStatus } = result;
    return { callId, isOk: outcome === "ok", message, providerStatus, saysError: message.startsWith(errorAnswerStart) };
  };
}
