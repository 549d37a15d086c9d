import type { Fault, JsonObject } from "@svc/core";
import type { Node } from "@svc/node";
import { auditAction } from "../audit/audit-action.ts";
import type { AuditLog } from "../audit/log.ts";
import { consoleFaults } from "./errors.ts";
import { findGoodLink, type LinkOptions, linkHelp, withinLimit } from "./links.ts";
import { type PageCall, textField } from "./page-call.ts";

// /console/answer, for the page of a link to an answer. GET is the page itself, and changes nothing; neither does this:
//   POST {"token": "…"}: the question. Answers {"state": "pending", "principalId", "contactName", "question", "confirms", "continuations": ["proceed", …],
//     "answerSchemaJson", "defaultContinuation", "deadlineAt", "expiresAt"}; times are RFC 3339, texts are empty for none, and confirms says that it is asked
//     whether something may be done at all. Of an ask that is settled
//     {"state": "answered" | "defaulted" | "withdrawn", "principalId", "contactName", "confirms", "decision": {"continuation", "principalId", "at"}};
//     the decision's principalId is empty for the clock, and a withdrawn ask has none.
//   POST {"token", "continuation", "overridesJson", "note"}: answers, as AnswerAsk does, for the contact; the last two may be missing. Answers
//     the settled ask in the form above.
// Refusals: LINK_INVALID (401), whose message says why the link is dead and whose help whom to ask; SIGN_INS_EXCEEDED (429); ORIGIN_REFUSED
// (403); those of AnswerAsk, ASK_SETTLED and PRINCIPAL_NOT_REACHED among them.

/** Dependencies of answering through a link. */
export type AnswerOptions = LinkOptions & {
  readonly answerLinks: Node["jobs"]["answerLinks"];
  readonly audit: AuditLog;
};

/** Creates the POST of `/console/answer`. */
export function createAnswer(options: AnswerOptions): PageCall {
  const { answerLinks, audit } = options;
  return async (body, req) => {
    const token = requireToken(body);
    const { link, key } = await withinLimit(options, req, token, () => findGoodLink(options, "answer", token));
    const continuation = textField(body, "continuation");
    if (continuation !== undefined) {
      options.limit.act(link.id);
      const [overridesJson = "", note = ""] = [textField(body, "overridesJson"), textField(body, "note")];
      const opened = { link, role: key.role };
      const { requestId = "", principalId = "" } = link.target.answer ?? {};
      const about = { projectId: link.projectId, subject: requestId, entityId: principalId };
      await auditAction(audit, { ...about, actor: { kind: "link" }, action: "AnswerLink.Answer" }, async () => {
        if (!(await answerLinks.answer(opened, { continuation, overridesJson, note }))) throw gone();
      });
    }
    const json = await answerLinks.show(link);
    if (json === undefined) throw gone();
    return { json };
  };
}

function gone(): Fault {
  return consoleFaults.LINK_INVALID("what the link asks, or whom, is no longer there", linkHelp("answer"));
}

/** Returns the token of a link. Throws REQUEST_MALFORMED if it is missing. */
export function requireToken(body: JsonObject): string {
  const token = textField(body, "token");
  if (token === undefined)
    throw consoleFaults.REQUEST_MALFORMED("token", "token is missing", "Send the link's part behind #.");
  return token;
}
