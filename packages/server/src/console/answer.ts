import type { Fault, JsonObject } from "@svc/core";
import type { Node } from "@svc/node";
import { auditAction } from "../audit/audit-action.ts";
import type { AuditLog } from "../audit/log.ts";
import { consoleFaults } from "./errors.ts";
import { findGoodLink, type LinkOptions, linkHelp, withinLimit } from "./links.ts";
import { type PageCall, textField } from "./page-call.ts";

// The path /console/answer, used by the page on which a person answers an ask through a link. GET returns the page and changes nothing.
// POST {"token": "…"} returns the question and changes nothing either: {"state": "pending", "principalId", "contactName", "question",
// "confirms", "continuations": ["proceed", …], "answerSchemaJson", "defaultContinuation", "deadlineAt", "expiresAt"}. Times are RFC 3339; a
// text is empty if there is no value; `confirms` is true if the ask is whether an action may be done at all. For a settled ask it returns
// {"state": "answered" | "defaulted" | "withdrawn", "principalId", "contactName", "confirms", "decision": {"continuation", "principalId",
// "at"}}. If the deadline decided, the decision's principalId is empty; a withdrawn ask has no decision.
// POST {"token", "continuation", "overridesJson", "note"} answers the ask for the contact, like AnswerAsk. `overridesJson` and `note` may
// be missing. It returns the settled ask in the form above.
// Errors: LINK_INVALID (401), with the reason in its message and, in its help, whom to ask for a new link; SIGN_INS_EXCEEDED (429);
// ORIGIN_REFUSED (403); and the errors of AnswerAsk, such as ASK_SETTLED and PRINCIPAL_NOT_REACHED.

/** Dependencies of the handler with which a person answers a job's question through a link. */
export type AnswerOptions = LinkOptions & {
  readonly answerLinks: Node["jobs"]["answerLinks"];
  readonly audit: AuditLog;
};

/**
 * Creates the handler of POST requests to `/console/answer`. With it, the page of an answer link shows a job's question and sends the
 * person's answer.
 */
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
  return consoleFaults.LINK_INVALID("the question or the contact of the link no longer exists", linkHelp("answer"));
}

/**
 * Returns the secret token of an answer link or connect link, which the page sends in the request body. Throws REQUEST_MALFORMED if the
 * body has no token.
 */
export function requireToken(body: JsonObject): string {
  const token = textField(body, "token");
  if (token === undefined)
    throw consoleFaults.REQUEST_MALFORMED("token", "token is missing", "Send the part of the link after #.");
  return token;
}
